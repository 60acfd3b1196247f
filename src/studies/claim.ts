/**
 * Rows that decide themselves: an estimate over seeds, a bound, and whether the interval clears it.
 * Not the mean but the interval's near end is compared, so a lucky middle can not pass.
 */

import type { Rng } from "../base/index.ts";
import { bootstrap, interquartileMean } from "./statistics/index.ts";
import type { Estimate, PaperFigure, StudyRow } from "./study.ts";

/** One score per seed → interquartile mean with its bootstrap interval. */
export function estimateOver(
  scores: readonly number[],
  { unit, rng }: { readonly unit: string; readonly rng: Rng },
): Estimate {
  const { estimate, lo, hi } = bootstrap(scores, interquartileMean, { rng });
  return { mean: estimate, lo, hi, n: scores.length, unit };
}

export interface ClaimRow {
  readonly id: string;
  readonly what: string;
  readonly paper: PaperFigure | null;
  readonly ours: Estimate;
  /** The sentence; it names the bound. */
  readonly claim: string;
}

export function claimAtLeast(row: ClaimRow, bound: number): StudyRow {
  return { ...row, holds: row.ours.lo >= bound };
}

/** A figure that is told and not judged: no verdict stands beside it. */
export function notJudged({ why, ...row }: Omit<ClaimRow, "claim"> & { readonly why?: string }): StudyRow {
  return { ...row, claim: why === undefined ? "shown, not judged" : `shown, not judged: ${why}`, holds: null };
}

export function claimAtMost(row: ClaimRow, bound: number): StudyRow {
  return { ...row, holds: row.ours.hi <= bound };
}
