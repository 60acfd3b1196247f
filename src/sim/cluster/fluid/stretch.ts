/**
 * A part of a step in which pods are near one steady state, between two load levels.
 * Owns: its figures, which of its latencies are in time, and where they stand on the window's scale.
 * Not here: the steady states (response-point.ts), how a step is cut into stretches (backlog.ts).
 *
 * A step may be tried several times before it is taken, so what only counts once it is (logarithms, above all) waits for
 * `mark`.
 */
import { SLICE_ENDS } from "./calibration.ts";
import type { Slices } from "./latency-window.ts";
import { quickLog } from "./quick-log.ts";
import type { ResponsePoint } from "./response-point.ts";

const SLICE_COUNT = SLICE_ENDS.length;
const SLICE_SHARES = Float64Array.from(SLICE_ENDS, (end, i) => end - (SLICE_ENDS[i - 1] ?? 0));
const ALL = Math.min(
  1,
  SLICE_SHARES.reduce((sum, share) => sum + share, 0),
);

/** Milliseconds that are none on the window's scale, and have a logarithm. */
const NOTHING = 1e-6;

export interface StretchPlace {
  /** The level below, and how far from it to the next (0 to 1). */
  readonly level: number;
  readonly part: number;
  /** Share of the step. */
  readonly weight: number;
  readonly timeout: number;
}

export class Stretch implements Slices {
  level = 0;
  part = 0;
  weight = 0;
  /** Share of those who leave that are in time. */
  inTime = 0;
  // Slices with somebody in time, the fastest first, with their shares of all.
  count = 0;
  masses: Float64Array = SLICE_SHARES;
  readonly logs = new Float64Array(SLICE_COUNT);

  #timeout = 0;
  #isMarked = false;
  readonly #latencies = new Float64Array(SLICE_COUNT);
  readonly #delayed = { count: 0, masses: SLICE_SHARES as Float64Array, logs: new Float64Array(SLICE_COUNT) };
  readonly #someMasses = new Float64Array(SLICE_COUNT);

  judge(point: ResponsePoint, { level, part, weight, timeout }: StretchPlace): void {
    this.level = level;
    this.part = part;
    this.weight = weight;
    this.#timeout = timeout;
    this.#isMarked = false;
    if (point.longest(level) <= timeout && point.longest(level + 1) <= timeout) {
      this.inTime = ALL;
      this.count = SLICE_COUNT;
      this.masses = SLICE_SHARES;
      return;
    }
    this.#interpolate(point);
    this.masses = this.#someMasses;
    this.#judgeSlices();
  }

  crossing(point: ResponsePoint, threshold: number): number {
    const low = point.crossing(this.level, threshold);
    return low + this.part * (point.crossing(this.level + 1, threshold) - low);
  }

  /** Finds the logarithms. The point is at the place where the stretch was judged. */
  mark(point: ResponsePoint): void {
    if (this.#isMarked) return;
    this.#isMarked = true;
    if (this.masses === SLICE_SHARES) this.#interpolate(point);
    const latencies = this.#latencies;
    const logs = this.logs;
    const timeout = this.#timeout;
    for (let i = 0; i < this.count; i++) {
      // Of a slice that is in time in part, only that part is marked.
      const latency = Math.max(latencies[i]! < timeout ? latencies[i]! : timeout, NOTHING);
      latencies[i] = latency;
      logs[i] = quickLog(latency);
    }
  }

  /** The same of clients who had lost some time before. Good until it is asked for again. */
  delayed(delay: number): Slices {
    const delayed = this.#delayed;
    delayed.count = this.count;
    delayed.masses = this.masses;
    for (let i = 0; i < this.count; i++) delayed.logs[i] = quickLog(this.#latencies[i]! + delay);
    return delayed;
  }

  #interpolate(point: ResponsePoint): void {
    const low = point.latencies(this.level);
    const high = point.latencies(this.level + 1);
    const part = this.part;
    const latencies = this.#latencies;
    for (let i = 0; i < SLICE_COUNT; i++) latencies[i] = low[i]! + part * (high[i]! - low[i]!);
  }

  #judgeSlices(): void {
    const masses = this.#someMasses;
    let inTime = 0;
    let count = 0;
    for (; count < SLICE_COUNT; count++) {
      const mass = SLICE_SHARES[count]! * this.#shareInTime(count);
      if (mass <= 0) break;
      masses[count] = mass;
      inTime += mass;
    }
    this.count = count;
    this.inTime = Math.min(1, inTime);
  }

  /** Share of a slice below the timeout: it reaches half-way to its neighbours. */
  #shareInTime(slice: number): number {
    const latencies = this.#latencies;
    const limit = this.#timeout;
    const at = latencies[slice]!;
    const above = slice + 1 < SLICE_COUNT ? (at + latencies[slice + 1]!) / 2 : at;
    if (above <= limit) return 1;
    const below = slice > 0 ? (at + latencies[slice - 1]!) / 2 : at;
    return below >= limit ? 0 : (limit - below) / (above - below);
  }
}
