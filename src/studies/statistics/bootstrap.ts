/**
 * Percentile bootstrap intervals with a seeded stream, so that a report is the same on every machine.
 * A stratum is a task (an environment, a workload): runs are drawn again within it, never across, because how hard a
 * task is does not vary with the seed.
 */

import type { Rng } from "../../base/index.ts";
import { quantileOfSorted, requireValues, sum } from "./descriptive.ts";

export interface Interval {
  readonly estimate: number;
  readonly lo: number;
  readonly hi: number;
}

export interface BootstrapOptions {
  readonly rng: Rng;
  readonly resamples?: number;
  /** Coverage of the interval. */
  readonly level?: number;
}

/** One list of scores per stratum; the lists may differ in length. */
export type Strata = readonly (readonly number[])[];

/** The statistic sees one resample: the strata in their order, each as long as the original. */
export type Statistic = (strata: readonly number[][]) => number;

const DEFAULT_RESAMPLES = 10_000;
const DEFAULT_LEVEL = 0.95;

export function stratifiedBootstrap(strata: Strata, statistic: Statistic, options: BootstrapOptions): Interval {
  if (strata.length === 0) throw new RangeError("a bootstrap needs at least one stratum, got none");
  for (const stratum of strata) requireValues(stratum, "a bootstrap stratum");
  const sample = strata.map((stratum) => [...stratum]);
  const estimate = statistic(sample);
  return interval(estimate, options, (rng) => {
    for (const [s, stratum] of strata.entries()) {
      const drawn = sample[s] as number[];
      for (let i = 0; i < drawn.length; i++) drawn[i] = stratum[rng.int(stratum.length)] as number;
    }
    return statistic(sample);
  });
}

/** The interval of a statistic of one sample. */
export function bootstrap(
  values: readonly number[],
  statistic: (values: readonly number[]) => number,
  options: BootstrapOptions,
): Interval {
  return stratifiedBootstrap([values], (strata) => statistic(strata[0] as number[]), options);
}

/** Numerator and denominator of one pair come from the same seed, so they are drawn together. */
export interface RatioPair {
  readonly numerator: number;
  readonly denominator: number;
}

/**
 * Σ numerators ÷ Σ denominators. Pooled sums weigh each seed by how much it contributed; a mean of per-seed ratios
 * would let a seed with a tiny denominator speak loudest.
 */
export function pooledRatio(pairs: readonly RatioPair[], options: BootstrapOptions): Interval {
  requireValues(
    pairs.flatMap((pair) => [pair.numerator, pair.denominator]),
    "a pooled ratio",
  );
  const estimate = ratioOf(pairs);
  const drawn = [...pairs];
  return interval(estimate, options, (rng) => {
    for (let i = 0; i < drawn.length; i++) drawn[i] = pairs[rng.int(pairs.length)] as RatioPair;
    return ratioOf(drawn);
  });
}

function ratioOf(pairs: readonly RatioPair[]): number {
  const denominator = sum(pairs.map((pair) => pair.denominator));
  if (denominator === 0) throw new RangeError("a pooled ratio needs denominators that do not add up to zero");
  return sum(pairs.map((pair) => pair.numerator)) / denominator;
}

function interval(estimate: number, options: BootstrapOptions, resample: (rng: Rng) => number): Interval {
  const { rng, resamples = DEFAULT_RESAMPLES, level = DEFAULT_LEVEL } = options;
  if (!(level > 0 && level < 1)) throw new RangeError(`an interval's level lies between 0 and 1, got ${level}`);
  if (!Number.isInteger(resamples) || resamples < 1) {
    throw new RangeError(`a bootstrap needs at least one resample, got ${resamples}`);
  }
  const found = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) found[i] = resample(rng);
  found.sort();
  const tail = (1 - level) / 2;
  return { estimate, lo: quantileOfSorted(found, tail), hi: quantileOfSorted(found, 1 - tail) };
}
