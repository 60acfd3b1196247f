/**
 * The objective `cost`: the least bill, as long as no more steps miss the SLO than the error budget has.
 * Owns: what a step earns under it. Not here: the paper's reward (reward.ts), the multiplier by which the model's own plan
 * follows the budget (capacity/caution.ts).
 *
 *   earned = 1 − bill / bill of the rules alone − MISS · (missed ? 1 : 0) − KILL · pods that were killed
 *
 * So an episode of 100 steps earns the percentage of the rules' bill that it saves, less what its misses are worth. That is what
 * stages' thresholds compare under this objective: 0 is as good as rules that miss nothing, and a policy that earns less than 0
 * costs more than it saves. Relative to the rules' bill at the same load, since a bill by itself says how busy a day was.
 */
import type { Allocation } from "../../../act/index.ts";

/** A missed step is worth this many steps of the rules' bill: the same as where the capacity model begins (caution.ts). */
const MISS = 6;
/** A pod that was killed for want of memory takes its requests with it, and is gone for a minute. */
const KILL = 10;

/** Dollars for an hour of a core and of a GiB are about nine to one at public prices; only the ratio matters here. */
const CORE = 0.040_48;
const GIB = 0.004_773;
/** A pod that is stopped while it works: about a minute of one core. As a rate over a step of 15 s, in dollars per hour. */
const DISRUPTION = 0.0007 * 240;
const GIB_BYTES = 2 ** 30;

/** Dollars an hour. */
export const billOf = ({ replicas, cpu, memory }: Allocation): number =>
  replicas * ((CORE * cpu) / 1_000 + (GIB * memory) / GIB_BYTES);

export interface CostedStep {
  readonly setting: Allocation;
  readonly previous: Allocation;
  /** What there would have been if the rules had been alone. */
  readonly fallback: Allocation;
  readonly isMissed: boolean;
  readonly kills: number;
}

export function costReward({ setting, previous, fallback, isMissed, kills }: CostedStep): number {
  const stopped = Math.max(0, previous.replicas - setting.replicas);
  const bill = billOf(setting) + DISRUPTION * stopped;
  const usual = billOf(fallback);
  const saved = usual > 0 ? 1 - bill / usual : 0;
  // However much dearer: a step that costs many times the rules' would outweigh all others.
  return Math.max(saved, -3) - (isMissed ? MISS : 0) - KILL * kills;
}
