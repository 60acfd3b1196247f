/**
 * How a row is judged: always by our 95 % interval, never by its middle alone.
 * Owns: the rule, which docs/results/README.md tells in words. Not here: which row is of which kind (the studies).
 *
 * - A promise is what this product promises its users. It holds where the near end of our interval clears the bound.
 * - A reproduction is a paper's figure. It is reproduced where our interval shows an effect (its near end clears `none`,
 *   the value that would mean no effect) and its far end reaches the figure; beyond it counts as well. An effect that
 *   stays short of the figure has the same direction. Where the paper prints no number, the claim names ours, and the
 *   near end has to clear it. Where it prints “up to”, the claim names the number to reach.
 * - All else is shown and not judged: what describes the opponents or checks the study itself, and a weakness that a paper
 *   reports of learners, since having less of it is no failure and having more of it no merit.
 */

import type { Rng } from "../base/index.ts";
import type { ClaimTarget, Outcome } from "../contract/index.ts";
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

export const promiseAtLeast = (row: ClaimRow, bound: number): StudyRow =>
  promise(row, { direction: "at-least", bound, none: null });

export const promiseAtMost = (row: ClaimRow, bound: number): StudyRow =>
  promise(row, { direction: "at-most", bound, none: null });

export interface Reproducing {
  /** The paper's figure, or its near end where it is a range. */
  readonly bound: number;
  /** The value that would mean no effect; left out where the figure is a level, which is reached or not. */
  readonly none?: number;
}

export const reproduceAtLeast = (row: ClaimRow, { bound, none }: Reproducing): StudyRow =>
  reproduction(row, { direction: "at-least", bound, none: none ?? null });

export const reproduceAtMost = (row: ClaimRow, { bound, none }: Reproducing): StudyRow =>
  reproduction(row, { direction: "at-most", bound, none: none ?? null });

/** A figure that is shown and not judged; `why`, where that is not plain. */
export function shown({
  paper = null,
  why,
  ...row
}: Omit<ClaimRow, "claim" | "paper"> & { readonly paper?: PaperFigure | null; readonly why?: string }): StudyRow {
  const claim = why === undefined ? "shown, not judged" : `shown, not judged: ${why}`;
  return { ...row, paper, claim, kind: "shown", holds: null };
}

function promise(row: ClaimRow, target: ClaimTarget): StudyRow {
  return { ...row, kind: "promise", target, holds: isPromiseKept(row.ours, target) };
}

function reproduction(row: ClaimRow, target: ClaimTarget): StudyRow {
  const outcome = outcomeOf(row, target);
  return { ...row, kind: "reproduction", target, outcome, holds: outcome === "reproduced" };
}

export function isPromiseKept(ours: Estimate, target: ClaimTarget): boolean {
  const { near, bound } = facing(ours, target);
  return near >= bound;
}

export function outcomeOf({ paper, ours }: Pick<ClaimRow, "paper" | "ours">, target: ClaimTarget): Outcome {
  const { near, far, bound, none } = facing(ours, target);
  if (none !== null && near <= none) return "not";
  const reaches = paper === null ? near : far;
  if (reaches >= bound) return "reproduced";
  return none === null ? "not" : "same-direction";
}

/** Turned so that more is better: `near` is the end of the interval from which the bound is farthest. */
function facing({ lo, hi }: Estimate, { direction, bound, none }: ClaimTarget) {
  return direction === "at-least"
    ? { near: lo, far: hi, bound, none }
    : { near: -hi, far: -lo, bound: -bound, none: none === null ? null : -none };
}
