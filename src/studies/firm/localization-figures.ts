/**
 * From scored instances to figures: operating curves, accuracies, and their intervals over seeds.
 * Owns: the arithmetic. Not here: where scores come from (localization-campaigns.ts), the claims (firm-localization.ts).
 */
import { seededRng } from "../../base/index.ts";
import { bootstrap } from "../statistics/index.ts";
import type { Estimate } from "../study.ts";

/** One instance in one window. */
export interface Scored {
  /** From 0 to 1; -1 where it was not among the suspects. */
  readonly score: number;
  readonly isCulprit: boolean;
}

export interface OperatingPoint {
  readonly falsePositives: number;
  readonly truePositives: number;
}

/** Rates from the strictest threshold to the laxest; instances of one score are taken together. */
export function operatingCurve(samples: readonly Scored[]): readonly OperatingPoint[] {
  const positives = samples.filter(({ isCulprit }) => isCulprit).length;
  const negatives = samples.length - positives;
  const points: OperatingPoint[] = [{ falsePositives: 0, truePositives: 0 }];
  // Who was not suspected is found at no threshold.
  const sorted = samples.filter(({ score }) => score >= 0).sort((a, b) => b.score - a.score);
  let [found, wrong] = [0, 0];
  for (const [k, { score, isCulprit }] of sorted.entries()) {
    if (isCulprit) found += 1;
    else wrong += 1;
    if (sorted[k + 1]?.score === score) continue;
    points.push({
      falsePositives: negatives === 0 ? 0 : wrong / negatives,
      truePositives: positives === 0 ? 0 : found / positives,
    });
  }
  return points;
}

/** The share of culprits found at the laxest threshold with no more false positives than that. */
export function truePositivesAt(samples: readonly Scored[], mostFalse: number): number {
  let best = 0;
  for (const { falsePositives, truePositives } of operatingCurve(samples))
    if (falsePositives <= mostFalse) best = Math.max(best, truePositives);
  return best;
}

export interface Decisions {
  readonly right: number;
  readonly all: number;
  /** Culprits, and those of them that were named. */
  readonly culprits: number;
  readonly found: number;
  readonly named: number;
}

export function decisionsAt(samples: readonly Scored[], threshold: number): Decisions {
  const isNamed = ({ score }: Scored): boolean => score >= threshold;
  return {
    right: samples.filter((sample) => isNamed(sample) === sample.isCulprit).length,
    all: samples.length,
    culprits: samples.filter(({ isCulprit }) => isCulprit).length,
    found: samples.filter((sample) => sample.isCulprit && isNamed(sample)).length,
    named: samples.filter(isNamed).length,
  };
}

/** Each sorts thousands of scores; an interval's ends are good to half a hundredth with so many. */
const RESAMPLES = 1_000;

/** A figure of pooled samples; seeds are drawn as wholes, since windows of one seed share a trained localizer. */
export function pooledOver<T>(
  bySeed: readonly T[],
  figure: (drawn: readonly T[]) => number,
  { id, unit }: { readonly id: string; readonly unit: string },
): Estimate {
  const places = bySeed.map((_, place) => place);
  const statistic = (drawn: readonly number[]) => figure(drawn.map((place) => bySeed[place] as T));
  const { estimate, lo, hi } = bootstrap(places, statistic, { rng: seededRng(0).fork(id), resamples: RESAMPLES });
  return { mean: estimate, lo, hi, n: bySeed.length, unit };
}
