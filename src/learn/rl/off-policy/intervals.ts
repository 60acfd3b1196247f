/**
 * Intervals over resampled blocks of episodes.
 * Owns: the draws of a resample, the width of an interval. Not here: what is estimated (estimate.ts).
 */

import type { Rng } from "../../../base/index.ts";

export interface Interval {
  readonly mean: number;
  /** Ends of the 95 % interval. */
  readonly lo: number;
  readonly hi: number;
}

/** How often each block is in a resample of as many blocks. */
export function drawCounts(blocks: number, rng: Rng): Float64Array {
  const counts = new Float64Array(blocks);
  for (let i = 0; i < blocks; i++) {
    const b = rng.int(blocks);
    counts[b] = counts[b]! + 1;
  }
  return counts;
}

/** The estimate ± Student's 97.5 % point times the spread over resamples: few blocks know their own spread badly. */
export function intervalOf(mean: number, draws: readonly number[], blocks: number): Interval {
  if (blocks < 2) return { mean, lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY };
  const centre = draws.reduce((a, b) => a + b, 0) / draws.length;
  const variance = draws.reduce((a, b) => a + (b - centre) ** 2, 0) / (draws.length - 1);
  // A resample of n blocks spreads by (n − 1)/n of the variance.
  const half = studentPoint(blocks - 1) * Math.sqrt((variance * blocks) / (blocks - 1));
  return { mean, lo: mean - half, hi: mean + half };
}

/** The 97.5 % point of Student's t, by the expansion around the normal's (Abramowitz and Stegun, 26.7.5). */
export function studentPoint(freedom: number): number {
  const z = 1.959964;
  const [z3, z5, z7] = [z ** 3, z ** 5, z ** 7];
  const terms = [(z3 + z) / 4, (5 * z5 + 16 * z3 + 3 * z) / 96, (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384];
  // With one degree of freedom the series is far off; the exact point is 12.7, with two it is 4.30.
  if (freedom === 1) return 12.706;
  if (freedom === 2) return 4.303;
  return terms.reduce((sum, term, i) => sum + term / freedom ** (i + 1), z);
}
