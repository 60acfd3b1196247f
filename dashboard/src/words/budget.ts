/** What is left of an error budget, and whether the learner steers, in words. Pure. */
import type { BudgetDocument, SteeringCounts } from "../../../src/contract/index.ts";
import { elapsed, NOTHING, share, whole } from "./format.ts";

/** "87 %", or "overspent". */
export const budgetLeft = ({ left }: Pick<BudgetDocument, "left">): string =>
  left < 0 ? "overspent" : `${whole(Math.floor(100 * left + 1e-9))} %`;

const times = (burn: number): string => (burn >= 9.95 ? whole(burn) : burn.toFixed(1));

/** How fast it goes: "2.5 × in 1 h, 1.2 × in 6 h". */
export const burnWords = ({ burn }: Pick<BudgetDocument, "burn">): string =>
  burn.short === 0 && burn.long === 0
    ? "nothing spent in 6 h"
    : `${times(burn.short)} × in 1 h, ${times(burn.long)} × in 6 h`;

/** What the figures mean, for who points at them. */
export const budgetMeaning = ({ attainment, windowMs, steps, missed }: BudgetDocument): string =>
  `${share(1 - attainment)} of the steps of ${elapsed(windowMs)} may miss the SLO; ${whole(missed)} of ${whole(steps)} did. ` +
  "At 1 × the budget is spent in just that time.";

/** Rounded down: what is not quite all is not 100 %. */
export const shareOf = (some: number, all: number): string =>
  all === 0 ? NOTHING : `${whole(Math.floor((100 * some) / all))} %`;

/** "98 % done as proposed, 71 % with less than HPA and VPA alone would have"; null where the learner has not acted. */
export function steeringWords({ decisions, asProposed, less }: SteeringCounts, fallback: string): string | null {
  if (decisions === 0) return null;
  return `${shareOf(asProposed, decisions)} done as proposed, ${shareOf(less, decisions)} with less than ${fallback} alone would have`;
}
