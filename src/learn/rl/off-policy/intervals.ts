/**
 * Intervals from leaving out one block of episodes at a time.
 * Owns: the width of an interval. Not here: what is estimated (estimate.ts).
 */

export interface Interval {
  readonly mean: number;
  /** Ends of the 95 % interval. */
  readonly lo: number;
  readonly hi: number;
}

/**
 * The estimate ± Student's 97.5 % point times its standard error, by the jackknife: `leftOut` are the estimates without
 * one block each. As many refits as there are blocks tell what a hundred resamples would, and no chance is in them. Few
 * blocks know their own spread badly, hence Student's point. `doubt` is an error of its own that more data would not
 * mend, as a standard error.
 */
export function intervalOf(mean: number, leftOut: readonly number[], doubt = 0): Interval {
  const blocks = leftOut.length;
  if (blocks < 2) return { mean, lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY };
  const centre = leftOut.reduce((a, b) => a + b, 0) / blocks;
  const squares = leftOut.reduce((a, b) => a + (b - centre) ** 2, 0);
  const half = studentPoint(blocks - 1) * Math.hypot(Math.sqrt((squares * (blocks - 1)) / blocks), doubt);
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
