/**
 * From the lives of several seeds to estimates: ratios of pooled sums, shares, curves.
 * A seed's lives are summed before anything is divided, and the two sides of a ratio are drawn together, because they
 * met the same requests.
 * Not here: what is compared with what (the studies).
 */
import { seededRng } from "../../base/index.ts";
import type { RatioPair } from "../statistics/index.ts";
import { bootstrap, mean, pooledRatio } from "../statistics/index.ts";
import type { Estimate, UnitResult } from "../study.ts";

/** `id` names the random stream, so that a row's interval does not depend on which rows there are besides. */
export interface Named {
  readonly id: string;
}

/** A quiet seed may have used nothing on either side, which is as much as the other and no division by zero. */
const NEXT_TO_NOTHING = 1e-9;

export function timesAsMuch(pairs: readonly RatioPair[], { id }: Named): Estimate {
  const { estimate, lo, hi } = pooledRatio(raised(pairs, NEXT_TO_NOTHING), { rng: seededRng(0).fork(id) });
  return { mean: estimate, lo, hi, n: pairs.length, unit: "×" };
}

/** Counts may be zero: one is added to each seed's both sides, which draws the ratio towards 1. */
export function timesAsMany(pairs: readonly RatioPair[], named: Named): Estimate {
  return timesAsMuch(raised(pairs, 1), named);
}

const raised = (pairs: readonly RatioPair[], by: number): RatioPair[] =>
  pairs.map(({ numerator, denominator }) => ({ numerator: numerator + by, denominator: denominator + by }));

/** How much more the numerator is, in percent of the denominator; less is negative. */
export function percentMore(pairs: readonly RatioPair[], named: Named): Estimate {
  const { mean: middle, lo, hi, n } = timesAsMuch(pairs, named);
  const percent = (ratio: number) => 100 * (ratio - 1);
  return { mean: percent(middle), lo: percent(lo), hi: percent(hi), n, unit: "%" };
}

/** How much less the numerator is, in percent of the denominator. */
export function percentLess(pairs: readonly RatioPair[], named: Named): Estimate {
  const { mean: middle, lo, hi, n } = percentMore(pairs, named);
  return { mean: -middle, lo: -hi, hi: -lo, n, unit: "%" };
}

/** The plain mean over seeds: of shares, which an interquartile mean would round to all or nothing. */
export function meanOver(values: readonly number[], { id, unit }: Named & { readonly unit: string }): Estimate {
  const { estimate, lo, hi } = bootstrap(values, mean, { rng: seededRng(0).fork(id) });
  return { mean: estimate, lo, hi, n: values.length, unit };
}

/** One entry per seed, in the order of the results. */
export function bySeed<R>(results: readonly UnitResult<R>[]): readonly ReadonlyMap<string, R>[] {
  const seeds = new Map<number, Map<string, R>>();
  for (const { seed, unit, result } of results) {
    const units = seeds.get(seed) ?? new Map<string, R>();
    seeds.set(seed, units.set(unit, result));
  }
  return [...seeds.values()];
}

/** Means of blocks of episodes, then over seeds, with a bootstrap interval at each point. */
export function curveOver(series: readonly (readonly number[])[], block: number) {
  const length = Math.min(...series.map((one) => one.length));
  const blocks = Math.floor(length / block);
  const points = Array.from({ length: blocks }, (_, b) => {
    const values = series.map((one) => mean(one.slice(b * block, (b + 1) * block)));
    return bootstrap(values, mean, { rng: seededRng(0).fork(b), resamples: 1_000 });
  });
  return {
    x: points.map((_, b) => (b + 0.5) * block),
    y: points.map((p) => p.estimate),
    lo: points.map((p) => p.lo),
    hi: points.map((p) => p.hi),
  };
}
