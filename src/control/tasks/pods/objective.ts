/**
 * The least bill, as long as no more steps miss the SLO than the error budget has. A bill is in dollars, watts, grams of carbon
 * or a weighted sum of them, as the owner has it (rates.ts).
 * Owns: what a step earns. Not here: the paper's reward (reward.ts), the multiplier by which the model's own plan follows the
 * budget (capacity/caution.ts).
 *
 *   earned = 1 − bill / bill of the rules alone − MISS · (missed ? 1 : 0) − KILL · pods that were killed
 *
 * So an episode of 100 steps earns the percentage of the rules' bill that it saves, less what its misses are worth. That is what
 * stages' thresholds compare under such an objective: 0 is as good as rules that miss nothing, and a policy that earns less than
 * 0 costs more than it saves. Relative to the rules' bill at the same load, since a bill by itself says how busy a day was.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Rates } from "./rates.ts";
import { rateOf } from "./rates.ts";

/** A missed step is worth this many steps of the rules' bill: the same as where the capacity model begins (caution.ts). */
const MISS = 6;
/** A pod that was killed for want of memory takes its requests with it, and is gone for a minute. */
const KILL = 10;

export interface CostedStep {
  readonly setting: Allocation;
  readonly previous: Allocation;
  /** What there would have been if the rules had been alone. */
  readonly fallback: Allocation;
  readonly isMissed: boolean;
  readonly kills: number;
  readonly rates: Rates;
}

export function costReward({ setting, previous, fallback, isMissed, kills, rates }: CostedStep): number {
  const stopped = Math.max(0, previous.replicas - setting.replicas);
  const bill = rateOf(setting, rates) + rates.stop * stopped;
  const usual = rateOf(fallback, rates);
  const saved = usual > 0 ? 1 - bill / usual : 0;
  // However much dearer: a step that costs many times the rules' would outweigh all others.
  return Math.max(saved, -3) - (isMissed ? MISS : 0) - KILL * kills;
}
