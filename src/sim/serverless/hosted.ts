/**
 * One function as the platform keeps it: its containers, its calls, what is written down of them, who waits.
 * Owns: the queue of waiting activations and how each of them may end. Not here: when they are served (event/, fluid/).
 */
import { milliseconds, type Rng } from "../../base/index.ts";
import type { CounterHistory } from "../cluster/metrics/counters.ts";
import type { MetricsPipeline } from "../cluster/metrics/pipeline.ts";
import { type Arrivals, steppedArrivals } from "../cluster/workloads/index.ts";
import type { ActivationLog } from "./activation-log.ts";
import { QUEUE_LIMIT, RETENTION } from "./calibration.ts";
import type { ManagedFunction } from "./containers.ts";
import type { FunctionLedger, Timing } from "./ledger.ts";
import { rateOfStep } from "./patterns.ts";
import type { DrawOptions } from "./work.ts";
import type { ActivationOutcome } from "./world.ts";

/** What a look at counters and records found. */
export interface FunctionSample {
  readonly at: number;
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly offered: number | null;
  readonly completed: number | null;
  readonly failed: number | null;
  readonly kills: number;
  readonly ready: number;
  readonly starting: number;
}

export interface HostedParts {
  readonly owner: ManagedFunction;
  readonly ledger: FunctionLedger;
  readonly log: ActivationLog;
  readonly draw: DrawOptions;
  readonly pipeline: MetricsPipeline<FunctionSample>;
  readonly counters: CounterHistory;
  readonly rng: Rng;
  /** How long a rate holds, and the moment of the world's clock that is its 0. */
  readonly step: number;
  readonly start: number;
  readonly from: number;
}

/** Room for those who wait, in a ring that grows to the limit. */
const FIRST_ROOM = 64;

export class HostedFunction {
  readonly owner: ManagedFunction;
  readonly ledger: FunctionLedger;
  readonly draw: DrawOptions;
  readonly pipeline: MetricsPipeline<FunctionSample>;
  readonly counters: CounterHistory;
  readonly noise: Rng;
  /** Moments of the world's own clock, which begins at 0. */
  readonly arrivals: Arrivals;
  /** Activations that are at work. */
  running = 0;
  readonly #log: ActivationLog;
  readonly #start: number;
  readonly #seeds: Rng;
  #arrived = new Float64Array(FIRST_ROOM);
  #seed = new Int32Array(FIRST_ROOM);
  #head = 0;
  #size = 0;

  constructor({ owner, ledger, log, draw, pipeline, counters, rng, step, start, from }: HostedParts) {
    this.owner = owner;
    this.ledger = ledger;
    this.draw = draw;
    this.pipeline = pipeline;
    this.counters = counters;
    this.noise = rng.fork("noise");
    this.#log = log;
    this.#start = start;
    this.#seeds = rng.fork("seeds");
    const rates = rng.fork("rates");
    const { pattern } = owner.spec;
    const rateAt = (at: number): number => rateOfStep(pattern, rates, Math.floor(at / step + 1e-9)) / 1_000;
    this.arrivals = isSilent(pattern) ? SILENCE : steppedArrivals({ span: step, rateAt }, rng.fork("times"), from);
  }

  get waiting(): number {
    return this.#size;
  }

  /** When the next one in the queue came. */
  get nextArrived(): number {
    return this.#arrived[this.#head]!;
  }

  /** An activation comes; false where the queue is full. */
  arrive(at: number): boolean {
    this.ledger.arrived++;
    const seed = this.#seeds.uint32() | 0;
    if (this.#size >= QUEUE_LIMIT) {
      this.ledger.refused++;
      this.#write(at, "refused", NO_TIME);
      return false;
    }
    if (this.#size === this.#arrived.length) this.#grow();
    const slot = (this.#head + this.#size++) & (this.#arrived.length - 1);
    this.#arrived[slot] = at;
    this.#seed[slot] = seed;
    return true;
  }

  /** The next in the queue begins to work; the answer is its seed. */
  takeNext(): number {
    const seed = this.#seed[this.#head]!;
    this.#skip();
    this.running++;
    return seed;
  }

  /** Those who have waited too long are gone. */
  dropStale(now: number): void {
    while (this.#size > 0 && this.nextArrived < now - RETENTION) this.#drop(now);
  }

  dropAll(now: number): void {
    while (this.#size > 0) this.#drop(now);
  }

  complete(arrivedAt: number, at: number, timing: Timing): void {
    this.running--;
    this.ledger.complete(at, timing);
    this.#write(arrivedAt, "completed", timing);
  }

  killed(arrivedAt: number, timing: Timing): void {
    this.running--;
    this.ledger.killed++;
    this.#write(arrivedAt, "killed", timing);
  }

  #drop(now: number): void {
    const at = this.nextArrived;
    this.#skip();
    this.ledger.dropped++;
    this.#write(at, "dropped", { waiting: now - at, coldStart: 0, execution: 0 });
  }

  #skip(): void {
    this.#head = (this.#head + 1) & (this.#arrived.length - 1);
    this.#size--;
  }

  #write(arrivedAt: number, outcome: ActivationOutcome, timing: Timing): void {
    const workload = this.owner.spec.id;
    this.#log.add({ workload, arrivedAt: milliseconds(this.#start + arrivedAt), outcome, ...timing });
  }

  #grow(): void {
    const room = this.#arrived.length;
    const arrived = new Float64Array(2 * room);
    const seed = new Int32Array(2 * room);
    for (let i = 0; i < this.#size; i++) {
      const slot = (this.#head + i) & (room - 1);
      arrived[i] = this.#arrived[slot]!;
      seed[i] = this.#seed[slot]!;
    }
    this.#arrived = arrived;
    this.#seed = seed;
    this.#head = 0;
  }
}

const NO_TIME: Timing = { waiting: 0, coldStart: 0, execution: 0 };
const SILENCE: Arrivals = { next: () => Number.POSITIVE_INFINITY };

function isSilent(pattern: ManagedFunction["spec"]["pattern"]): boolean {
  switch (pattern.kind) {
    case "recorded":
      return Array.from(pattern.rates).every((rate) => rate === 0);
    case "flat":
      return pattern.rate === 0;
    case "fluctuating":
      return pattern.low === 0 && pattern.high === 0;
    case "poisson":
      return pattern.most === 0;
  }
}
