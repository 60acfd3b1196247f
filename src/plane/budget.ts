/**
 * The error budget of a workload: how many of its steps may miss the SLO, and how fast that is used up.
 * Owns: counting steps by quarters of an hour in bounded memory, and what the counts come to. Pure; plain data, which is
 * saved with the plane. Not here: when a step has missed (accounts.ts counts the same), who has a budget (managed-workload.ts).
 *
 * The budget is that of a whole window: (1 − attainment) of all steps that fit into it. Time of which nothing is known
 * counts as kept: were it measured by the steps seen so far, one miss in the first minutes would overspend all of it.
 */
import type { Ms } from "../base/index.ts";
import { milliseconds } from "../base/index.ts";
import type { BudgetDocument } from "../contract/index.ts";

const HOUR = 3_600_000;
/** Counts are kept per so long, from multiples of it. */
export const SPAN: Ms = milliseconds(HOUR / 4);
export const BUDGET_WINDOW: Ms = milliseconds(7 * 24 * HOUR);
/** The share of steps that is to keep the SLO, where nobody asks for another. */
export const USUAL_ATTAINMENT = 0.99;

const IN_WINDOW = BUDGET_WINDOW / SPAN;
const SHORT = HOUR / SPAN;
const LONG = (6 * HOUR) / SPAN;

/** Steps and misses by span, oldest first and without gaps; never more spans than fit into the window. */
export interface BudgetCounts {
  /** The number of the first span, counted from 1970. */
  readonly first: number;
  readonly steps: readonly number[];
  readonly missed: readonly number[];
  /** Of the newest step. */
  readonly at: number;
}

export interface BudgetStep {
  readonly at: number;
  /** SLO preservation; null where nothing was measured, which is no miss. */
  readonly preservation: number | null;
}

const spanOf = (at: number): number => Math.floor(at / SPAN);

/** One step more. A step that ends at the boundary of two spans lies in the one before it; time that runs back stays where it was. */
export function countStep(counts: BudgetCounts | null, { at, preservation }: BudgetStep): BudgetCounts {
  const missed = preservation !== null && preservation < 1 ? 1 : 0;
  const newest = counts === null ? spanOf(at - 1) : counts.first + counts.steps.length - 1;
  const span = Math.max(newest, spanOf(at - 1));
  // After a gap as long as the window nothing of what was is left.
  if (counts === null || span - newest >= IN_WINDOW) return { first: span, steps: [1], missed: [missed], at };
  const first = Math.max(counts.first, span - IN_WINDOW + 1);
  const gap = new Array<number>(span - newest).fill(0);
  return {
    first,
    steps: plusOne([...counts.steps.slice(first - counts.first), ...gap], 1),
    missed: plusOne([...counts.missed.slice(first - counts.first), ...gap], missed),
    at: Math.max(counts.at, at),
  };
}

function plusOne(counts: number[], more: number): number[] {
  counts.push((counts.pop() ?? 0) + more);
  return counts;
}

export interface BudgetTerms {
  readonly attainment: number;
  readonly controlStep: Ms;
}

export function budgetOf(counts: BudgetCounts, { attainment, controlStep }: BudgetTerms): BudgetDocument {
  // Nobody can miss less than one step, which also keeps an attainment of 1 from dividing by nothing.
  const allowed = Math.max(1, ((1 - attainment) * BUDGET_WINDOW) / controlStep);
  const missed = sumOf(counts.missed);
  const burnOver = (spans: number): number => {
    // From where its oldest span begins, which is less than the whole time while the newest one is not over.
    const passed = counts.at - (spanOf(counts.at - 1) - spans + 1) * SPAN;
    return sumOf(counts.missed.slice(-spans)) / (allowed * (passed / BUDGET_WINDOW));
  };
  return {
    attainment,
    windowMs: BUDGET_WINDOW,
    steps: sumOf(counts.steps),
    missed,
    left: 1 - missed / allowed,
    burn: { short: burnOver(SHORT), long: burnOver(LONG) },
  };
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
