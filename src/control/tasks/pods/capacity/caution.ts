/**
 * What a missed step is worth, so that over time no more steps are missed than the SLO allows.
 * Owns: a level that rises with every missed step and falls with every kept one, and the burn rates that say how fast. Pure: plain
 * data, which is saved.
 *
 * It is the multiplier of "the least CPU, subject to a share of missed steps", moved by that share as in dual ascent (and as
 * in adaptive conformal inference): whatever the model gets wrong, the share tends to the allowed one while the level stays
 * within its bounds. The bounds say how much may be paid at most where misses have other causes.
 *
 * How fast it moves follows the burn rate over an hour and over six, as alerts on error budgets do: 1 spends what is allowed in
 * just the SLO's window, however long that is. Above 1 in both, misses count twice, for it burns too fast and not by chance; below
 * 1 in both, kept steps do, for there is budget left to spend.
 */
import type { Ratio } from "../../../../base/index.ts";

export interface Caution {
  /** The logarithm of the multiplier, over that of a workload that keeps its SLO as it should. */
  readonly level: number;
  /** Burn rates over the last hour and the last six, the newest step weighing most. */
  readonly short: number;
  readonly long: number;
}

export const noCaution: Caution = Object.freeze({ level: 0, short: 1, long: 1 });

const RISE = 0.08;
const BOUNDS = { least: -1, most: 3 } as const;
/** Steps of 15 s in an hour and in six. */
const SHORT = 240;
const LONG = 1_440;
/** By how much faster it moves where both windows agree. */
const AGREED = 2;
/**
 * A missed step is worth as much as six steps of CPU: with noise of 0.1 in strain and slope 1 the last percent of CPU then saves
 * as much as it costs where one step in 200 is missed: density 0.014 of the normal distribution there, times 6, over 0.1.
 */
const WORTH = 6;

export function cautionAfter(
  { level, ...before }: Caution,
  { isMissed, allowed }: { readonly isMissed: boolean; readonly allowed: Ratio },
): Caution {
  const burn = isMissed ? 1 / allowed : 0;
  const short = before.short + (burn - before.short) / SHORT;
  const long = before.long + (burn - before.long) / LONG;
  const rise = isMissed ? RISE * (short > 1 && long > 1 ? AGREED : 1) : 0;
  const fall = RISE * allowed * (short < 1 && long < 1 ? AGREED : 1);
  return { level: Math.min(Math.max(level + rise - fall, BOUNDS.least), BOUNDS.most), short, long };
}

export const worthOfMiss = ({ level }: Pick<Caution, "level">): number => WORTH * Math.exp(level);
