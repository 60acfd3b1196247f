/**
 * Counting: what clients lived, and what each service answered.
 * Owns: totals, latencies since the last look (the truth), trailing windows (what telemetry may know).
 */
import { milliseconds } from "../../../base/index.ts";
import { ENDING, Outcomes } from "../../cluster/metrics/outcomes.ts";
import { quantileOf } from "../../cluster/metrics/select.ts";
import type { RequestTruth } from "../world.ts";

/** Totals since the beginning, of one request type or one service. */
export interface Totals {
  arrived: number;
  completed: number;
  timedOut: number;
  dropped: number;
}

const none = (): Totals => ({ arrived: 0, completed: 0, timedOut: 0, dropped: 0 });

export interface LedgerOptions {
  readonly requests: readonly string[];
  readonly slos: readonly number[];
  readonly services: number;
  readonly sloWindow: number;
}

export class Ledger {
  /** By request type. */
  readonly requests: readonly Totals[];
  readonly requestOutcomes: readonly Outcomes[];
  /** By service: calls. */
  readonly services: readonly Totals[];
  readonly serviceOutcomes: readonly Outcomes[];
  readonly #names: readonly string[];
  readonly #slos: readonly number[];
  readonly #latencies: readonly Latencies[];
  readonly #late: Float64Array;
  readonly #before: Totals[];

  constructor({ requests, slos, services, sloWindow }: LedgerOptions) {
    this.#names = requests;
    this.#slos = slos;
    this.requests = requests.map(none);
    this.requestOutcomes = requests.map(() => new Outcomes(sloWindow));
    this.services = Array.from({ length: services }, none);
    this.serviceOutcomes = Array.from({ length: services }, () => new Outcomes(sloWindow));
    this.#latencies = requests.map(() => new Latencies());
    this.#late = new Float64Array(requests.length);
    this.#before = requests.map(none);
  }

  arrived(type: number): void {
    this.requests[type]!.arrived++;
  }

  completed(type: number, now: number, latency: number): void {
    this.requests[type]!.completed++;
    this.requestOutcomes[type]!.add(now, latency, ENDING.answered);
    this.#latencies[type]!.add(latency);
    if (latency > this.#slos[type]!) this.#late[type]! += 1;
  }

  timedOut(type: number, now: number, latency: number): void {
    this.requests[type]!.timedOut++;
    this.requestOutcomes[type]!.add(now, latency, ENDING.timedOut);
  }

  dropped(type: number, now: number): void {
    this.requests[type]!.dropped++;
    this.requestOutcomes[type]!.add(now, 0, ENDING.unanswered);
  }

  answered(service: number, now: number, latency: number): void {
    const totals = this.services[service]!;
    totals.arrived++;
    totals.completed++;
    this.serviceOutcomes[service]!.add(now, latency, ENDING.answered);
  }

  /** A call that its service did not take, or could not answer because one further down was refused. */
  refused(service: number, now: number): void {
    const totals = this.services[service]!;
    totals.arrived++;
    totals.dropped++;
    this.serviceOutcomes[service]!.add(now, 0, ENDING.unanswered);
  }

  /** Since the last call. Those under way are counted by whoever has them, not by what is missing here. */
  truth(underWay: (type: number) => number): readonly RequestTruth[] {
    return this.requests.map((totals, type) => {
      const before = this.#before[type] as Totals;
      const latencies = this.#latencies[type] as Latencies;
      const truth: RequestTruth = {
        request: this.#names[type] as string,
        arrived: totals.arrived - before.arrived,
        completed: totals.completed - before.completed,
        timedOut: totals.timedOut - before.timedOut,
        dropped: totals.dropped - before.dropped,
        inFlight: underWay(type),
        ...latencies.summary(),
        late: this.#late[type] as number,
      };
      this.#before[type] = { ...totals };
      this.#late[type] = 0;
      latencies.clear();
      return truth;
    });
  }
}

/** Latencies between two looks. */
export class Latencies {
  #values = new Float64Array(256);
  #count = 0;
  #sum = 0;

  add(latency: number): void {
    if (this.#count === this.#values.length) {
      const bigger = new Float64Array(this.#count * 2);
      bigger.set(this.#values);
      this.#values = bigger;
    }
    this.#values[this.#count++] = latency;
    this.#sum += latency;
  }

  clear(): void {
    this.#count = 0;
    this.#sum = 0;
  }

  summary(): Pick<RequestTruth, "p50" | "p99" | "mean" | "latencies"> {
    const at = (quantile: number) => {
      const found = quantileOf(this.#values, this.#count, quantile);
      return found === null ? null : milliseconds(found);
    };
    return {
      p50: at(0.5),
      p99: at(0.99),
      mean: this.#count === 0 ? null : milliseconds(this.#sum / this.#count),
      latencies: this.#values.slice(0, this.#count),
    };
  }
}
