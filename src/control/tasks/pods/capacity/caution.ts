/**
 * What a missed step is worth, so that over time no more steps are missed than the SLO allows.
 * Owns: one number that rises with every missed step and falls with every kept one. Pure.
 *
 * It is the multiplier of "the least CPU, subject to a share of missed steps", moved by that share as in dual ascent (and as
 * in adaptive conformal inference): whatever the model gets wrong, the share tends to the allowed one while the number stays
 * within its bounds. The bounds say how much may be paid at most where misses have other causes.
 */
import type { Ratio } from "../../../../base/index.ts";

/** The logarithm of the multiplier, over that of a workload that keeps its SLO as it should. */
export type Caution = number;

export const noCaution: Caution = 0;

const RISE = 0.08;
const BOUNDS = { least: -1, most: 3 } as const;
/**
 * A missed step is worth as much as six steps of CPU: with noise of 0.1 in strain and slope 1 the last percent of CPU then saves
 * as much as it costs where one step in 200 is missed: density 0.014 of the normal distribution there, times 6, over 0.1.
 */
const WORTH = 6;

export function cautionAfter(caution: Caution, step: { readonly isMissed: boolean; readonly allowed: Ratio }): Caution {
  const moved = caution + RISE * ((step.isMissed ? 1 : 0) - step.allowed);
  return Math.min(Math.max(moved, BOUNDS.least), BOUNDS.most);
}

export const worthOfMiss = (caution: Caution): number => WORTH * Math.exp(caution);
