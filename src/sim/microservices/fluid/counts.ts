/**
 * Counting in the fluid rung: few sampled requests stand for all that came in their step.
 * Owns: totals by request type, the truth, readings of the ingress. Everything that comes in a step ends in it.
 */
import type { Ms, PerSecond } from "../../../base/index.ts";
import { milliseconds } from "../../../base/index.ts";
import type { RequestReading } from "../../../observe/telemetry/index.ts";
import { ENDING, Outcomes } from "../../cluster/metrics/outcomes.ts";
import { Latencies } from "../event/ledger.ts";
import type { RequestTruth } from "../world.ts";

export interface CountsOptions {
  readonly requests: readonly string[];
  readonly slos: readonly Ms[];
  readonly sloWindow: number;
}

export class Counts {
  /** Of the step. */
  readonly arrivals: Float64Array;
  readonly #options: CountsOptions;
  readonly #arrived: Float64Array;
  readonly #timedOut: Float64Array;
  readonly #dropped: Float64Array;
  readonly #late: Float64Array;
  readonly #latencies: readonly Latencies[];
  readonly #outcomes: readonly Outcomes[];
  /** Of the last step, for readings. */
  readonly #failedLast: Float64Array;
  #inStep = { timedOut: 0, dropped: 0, late: 0 };

  constructor(options: CountsOptions) {
    this.#options = options;
    const types = options.requests.length;
    this.arrivals = new Float64Array(types);
    this.#arrived = new Float64Array(types);
    this.#timedOut = new Float64Array(types);
    this.#dropped = new Float64Array(types);
    this.#late = new Float64Array(types);
    this.#failedLast = new Float64Array(types);
    this.#latencies = options.requests.map(() => new Latencies());
    this.#outcomes = options.requests.map(() => new Outcomes(options.sloWindow));
  }

  begin(type: number): void {
    this.#arrived[type]! += this.arrivals[type]!;
    this.#inStep = { timedOut: 0, dropped: 0, late: 0 };
  }

  answered(type: number, now: number, latency: number): void {
    this.#latencies[type]!.add(latency);
    this.#outcomes[type]!.add(now, latency, ENDING.answered);
    if (latency > this.#options.slos[type]!) this.#inStep.late++;
  }

  gaveUp(type: number, now: number, latency: number): void {
    this.#outcomes[type]!.add(now, latency, ENDING.timedOut);
    this.#inStep.timedOut++;
  }

  refused(type: number, now: number): void {
    this.#outcomes[type]!.add(now, 0, ENDING.unanswered);
    this.#inStep.dropped++;
  }

  /** Those that were sampled speak for all that came. */
  end(type: number, samples: number): void {
    const each = samples > 0 ? this.arrivals[type]! / samples : 0;
    const { timedOut, dropped, late } = this.#inStep;
    this.#timedOut[type]! += timedOut * each;
    this.#dropped[type]! += dropped * each;
    this.#late[type]! += late * each;
    this.#failedLast[type] = (timedOut + dropped) * each;
  }

  /** Since the last call. Fractions of a request are kept for the next one. */
  truth(): readonly RequestTruth[] {
    return this.#options.requests.map((request, type) => {
      const latencies = this.#latencies[type] as Latencies;
      const arrived = this.#arrived[type] as number;
      const timedOut = take(this.#timedOut, type);
      const dropped = Math.min(take(this.#dropped, type), arrived - timedOut);
      const completed = arrived - timedOut - dropped;
      const truth: RequestTruth = {
        request,
        arrived,
        completed,
        timedOut,
        dropped,
        inFlight: 0,
        ...latencies.summary(),
        late: Math.min(take(this.#late, type), completed),
      };
      this.#arrived[type] = 0;
      latencies.clear();
      return truth;
    });
  }

  readings(now: number, start: number): readonly RequestReading[] {
    return this.#options.requests.map((request, type): RequestReading => {
      const outcomes = this.#outcomes[type] as Outcomes;
      const offered = this.arrivals[type] as number;
      const failed = this.#failedLast[type] as number;
      return {
        request,
        at: milliseconds(start + now),
        slo: this.#options.slos[type] as Ms,
        p50: outcomes.latencyAtIngress(now, 0.5) as Ms | null,
        p99: outcomes.latencyAtIngress(now, 0.99) as Ms | null,
        offered: offered as PerSecond,
        completed: (offered - failed) as PerSecond,
        failed: failed as PerSecond,
      };
    });
  }
}

function take(from: Float64Array, type: number): number {
  const whole = Math.floor(from[type]! + 1e-9);
  from[type] = Math.max(0, from[type]! - whole);
  return whole;
}
