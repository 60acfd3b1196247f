/**
 * How many requests come, minute by minute.
 * Owns: the shape of a load, making one of recorded counts, scaling it. Not here: reading records (adapters/datasets),
 * choosing among them (load-recorded.ts), the generator fitted to them (load-generate.ts), drawing arrivals (arrivals.ts).
 */
import { CodedError, failure } from "../../../base/index.ts";

export interface Load {
  readonly id: string;
  readonly level: "high" | "low";
  /** Requests per second in each minute; begins again after the last. */
  readonly perMinute: Float64Array;
  /** Variance over mean of the counts per 15 s, given the minute's rate: 1 is Poisson, more is bursty. */
  readonly dispersion: number;
}

const MINUTE = 60_000;

/** Requests per second at a moment in milliseconds. */
export function rateAt({ perMinute }: Load, at: number): number {
  const minute = Math.floor(at / MINUTE) % perMinute.length;
  return perMinute[minute] ?? 0;
}

/** More requests a day than this is a high load (AWARE, section 2.3). */
export const HIGH_PER_DAY = 1e5;

export interface CountsOptions {
  readonly id: string;
  /** Default 1.5: 1.44 was measured in the conversations of the data set azure-llm-2023. */
  readonly dispersion?: number;
}

/** A load of recorded counts, one per minute; its level follows from the requests it would have in a whole day. */
export function loadFromCounts(counts: ArrayLike<number>, { id, dispersion = 1.5 }: CountsOptions): Load {
  const perMinute = Float64Array.from(counts, (count) => count / 60);
  const wrong = perMinute.findIndex((rate) => !(Number.isFinite(rate) && rate >= 0));
  if (perMinute.length === 0 || wrong >= 0) {
    const what = perMinute.length === 0 ? "has no minutes" : `has the count ${counts[wrong]} in minute ${wrong}`;
    throw new CodedError(
      failure("workload.counts", `the load "${id}" ${what}; give one count, not negative, for each minute`),
    );
  }
  return { id, level: meanRate({ perMinute }) * 86_400 > HIGH_PER_DAY ? "high" : "low", perMinute, dispersion };
}

/** Requests per second over all minutes. */
export function meanRate({ perMinute }: Pick<Load, "perMinute">): number {
  return perMinute.reduce((sum, rate) => sum + rate, 0) / perMinute.length;
}

/** The same shape and level with another mean, in requests per second. A load without requests stays without. */
export function scaleLoad(load: Load, mean: number): Load {
  const now = meanRate(load);
  const factor = now === 0 ? 0 : mean / now;
  return { ...load, perMinute: load.perMinute.map((rate) => rate * factor) };
}
