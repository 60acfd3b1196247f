/** Tests of whether two independent samples differ; each says which alternative it weighs. */

import type { Rng } from "../../base/index.ts";
import { mean, requireValues, sum, variance } from "./descriptive.ts";
import { normalUpperTail, studentUpperTail } from "./special-functions.ts";

/** "greater": x tends to be larger than y. */
export type Alternative = "two-sided" | "greater" | "less";

export interface TestOutcome {
  readonly statistic: number;
  readonly p: number;
}

export interface MannWhitneyOutcome extends TestOutcome {
  readonly method: "exact" | "normal";
}

/** The exact distribution is affordable and used up to this size of the smaller sample, if there are no ties. */
const EXACT_UP_TO = 8;

/**
 * Mann and Whitney's U: the number of pairs in which x beats y, ties counting half.
 * Small samples without ties use the exact distribution; others the normal one, corrected for ties and continuity.
 */
export function mannWhitney(
  x: readonly number[],
  y: readonly number[],
  { alternative = "two-sided" }: { readonly alternative?: Alternative } = {},
): MannWhitneyOutcome {
  requireValues(x, "the first sample");
  requireValues(y, "the second sample");
  const { ranks, tieTerm } = rank([...x, ...y]);
  const u = sum(ranks.slice(0, x.length)) - (x.length * (x.length + 1)) / 2;
  const pairs = x.length * y.length;
  const upper = alternative === "less" ? pairs - u : alternative === "greater" ? u : Math.max(u, pairs - u);
  const sides = alternative === "two-sided" ? 2 : 1;
  if (tieTerm === 0 && Math.min(x.length, y.length) <= EXACT_UP_TO) {
    return { statistic: u, p: Math.min(1, sides * exactUpperTail(upper, x.length, y.length)), method: "exact" };
  }
  const n = x.length + y.length;
  const spread = Math.sqrt((pairs / 12) * (n + 1 - tieTerm / (n * (n - 1))));
  // All values equal: nothing tells the samples apart.
  if (spread === 0) return { statistic: u, p: 1, method: "normal" };
  const p = sides * normalUpperTail((upper - pairs / 2 - 0.5) / spread);
  return { statistic: u, p: Math.min(1, p), method: "normal" };
}

/** Mid-ranks from 1, and Σ (t³ − t) over groups of t equal values. */
function rank(values: readonly number[]): { ranks: number[]; tieTerm: number } {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const ranks = new Array<number>(values.length);
  let tieTerm = 0;
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && order[end]?.value === order[start]?.value) end += 1;
    for (let i = start; i < end; i++) ranks[order[i]?.index as number] = (start + 1 + end) / 2;
    const tied = end - start;
    tieTerm += tied ** 3 - tied;
    start = end;
  }
  return { ranks, tieTerm };
}

/** P(U ≥ u) when every interleaving is equally likely; counts of interleavings by Mann and Whitney's recurrence. */
function exactUpperTail(u: number, m: number, n: number): number {
  // ways[j][s]: interleavings of i x's and j y's with statistic s, for the current i.
  const size = m * n + 1;
  let ways = Array.from({ length: n + 1 }, () => {
    const row = new Float64Array(size);
    row[0] = 1;
    return row;
  });
  for (let i = 1; i <= m; i++) {
    const next = Array.from({ length: n + 1 }, () => new Float64Array(size));
    for (let j = 0; j <= n; j++) {
      const row = next[j] as Float64Array;
      const withoutX = ways[j] as Float64Array;
      const withoutY = j > 0 ? (next[j - 1] as Float64Array) : undefined;
      for (let s = 0; s <= i * j; s++) {
        // The last element is an x, which beats all j y's, or a y, which beats nothing.
        row[s] = (s >= j ? (withoutX[s - j] as number) : 0) + (withoutY?.[s] ?? 0);
      }
    }
    ways = next;
  }
  const counts = ways[n] as Float64Array;
  return sum([...counts.subarray(Math.ceil(u))]) / sum([...counts]);
}

export interface WelchOutcome extends TestOutcome {
  readonly degrees: number;
}

/** Welch's t: the means differ, without assuming equal variances. */
export function welch(
  x: readonly number[],
  y: readonly number[],
  { alternative = "two-sided" }: { readonly alternative?: Alternative } = {},
): WelchOutcome {
  if (x.length < 2 || y.length < 2) throw new RangeError("Welch's test needs at least two values in each sample");
  const a = variance(x) / x.length;
  const b = variance(y) / y.length;
  const difference = mean(x) - mean(y);
  if (a + b === 0) {
    throw new RangeError("Welch's test needs samples that vary: all values of both samples are equal to their mean");
  }
  const t = difference / Math.sqrt(a + b);
  const degrees = (a + b) ** 2 / (a ** 2 / (x.length - 1) + b ** 2 / (y.length - 1));
  const p =
    alternative === "greater"
      ? studentUpperTail(t, degrees)
      : alternative === "less"
        ? studentUpperTail(-t, degrees)
        : 2 * studentUpperTail(Math.abs(t), degrees);
  return { statistic: t, p, degrees };
}

export interface PermutationOptions {
  readonly rng: Rng;
  readonly permutations?: number;
  readonly alternative?: Alternative;
}

/**
 * The difference of means under random relabelling. The observed labelling counts as one of them, so p is never zero
 * and the test keeps its level at any number of permutations (Phipson and Smyth, 2010).
 */
export function permutationTest(
  x: readonly number[],
  y: readonly number[],
  { rng, permutations = 10_000, alternative = "two-sided" }: PermutationOptions,
): TestOutcome {
  requireValues(x, "the first sample");
  requireValues(y, "the second sample");
  const pool = [...x, ...y];
  const observed = mean(x) - mean(y);
  // Relabellings that are the observed one up to rounding must count as equal to it.
  const slack = 1e-12 * (Math.abs(observed) + Math.max(...pool.map(Math.abs)));
  let extreme = 1;
  for (let i = 0; i < permutations; i++) {
    // Only the first sample's places must be random: a partial Fisher–Yates shuffle.
    for (let k = 0; k < x.length; k++) {
      const other = k + rng.int(pool.length - k);
      const held = pool[k] as number;
      pool[k] = pool[other] as number;
      pool[other] = held;
    }
    const difference = mean(pool.slice(0, x.length)) - mean(pool.slice(x.length));
    const isExtreme =
      alternative === "greater"
        ? difference >= observed - slack
        : alternative === "less"
          ? difference <= observed + slack
          : Math.abs(difference) >= Math.abs(observed) - slack;
    if (isExtreme) extreme += 1;
  }
  return { statistic: observed, p: extreme / (permutations + 1) };
}
