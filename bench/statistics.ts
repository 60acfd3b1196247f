/**
 * Arithmetic over timings.
 * The best round is the figure: everything that disturbs a run only ever adds time. The median says how disturbed it was.
 */

/** What one round of `iterations` calls took, in nanoseconds. */
export interface Lap {
  readonly iterations: number;
  readonly wallNs: number;
  readonly cpuNs: number;
}

export interface Timing {
  /** Nanoseconds of processor time per call. */
  readonly best: number;
  readonly median: number;
  /** Nanoseconds of wall time per call. */
  readonly bestWall: number;
  readonly medianWall: number;
  readonly rounds: number;
  /** Median of wall over processor time: far above 1 means the machine was busy with something else. */
  readonly crowding: number;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("the median of nothing is not defined");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

export function summarise(laps: readonly Lap[]): Timing {
  if (laps.length === 0) throw new RangeError("a timing needs at least one lap");
  const cpu = laps.map((lap) => lap.cpuNs / lap.iterations);
  const wall = laps.map((lap) => lap.wallNs / lap.iterations);
  return {
    best: Math.min(...cpu),
    median: median(cpu),
    bestWall: Math.min(...wall),
    medianWall: median(wall),
    rounds: laps.length,
    crowding: median(laps.map((lap) => (lap.cpuNs > 0 ? lap.wallNs / lap.cpuNs : 1))),
  };
}

/** Calls that fill `wantNs`, given what a probe took; at least one. */
export function iterationsFor(probe: Lap, wantNs: number): number {
  const each = Math.max(probe.wallNs / probe.iterations, 1);
  return Math.max(1, Math.round(wantNs / each));
}

/** Largest absolute difference between two vectors, and the largest magnitude in the first. */
export function compareVectors(a: Float32Array, b: Float32Array): { difference: number; magnitude: number } {
  if (a.length !== b.length) throw new RangeError(`the answers have ${a.length} and ${b.length} numbers`);
  let difference = 0;
  let magnitude = 0;
  for (let i = 0; i < a.length; i++) {
    const gap = Math.abs((a[i] as number) - (b[i] as number));
    // A NaN on either side must not pass for agreement.
    difference = Number.isNaN(gap) ? Number.POSITIVE_INFINITY : Math.max(difference, gap);
    magnitude = Math.max(magnitude, Math.abs(a[i] as number));
  }
  return { difference, magnitude };
}
