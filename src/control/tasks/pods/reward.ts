/**
 * AWARE's reward, and the price of changing one's mind.
 * Owns: r = α·SP·|R| + (1−α)·Σ RU − switch cost, with its parts for explanations.
 * Not here: where SP and use come from (autoscale-observation.ts).
 *
 * Why there is a price. Use over limit is convex in the limit, and work that is not done in one step is done in the
 * next. So an agent that halves the limits in every second step sees utilisation 1 there, pays for the backlog with a
 * utilisation of less than 1 in the other, and earns more than by staying at either setting, while pods are resized all
 * day. How much more? Let total limits alternate between a < b, step by step, and let the work be u a step, a < u ≤ b.
 * The small step is full: RU = 1. The large one does the rest: RU = (2u − a)/b. Staying at b earns 2u/b in two steps, so
 * two steps, and two switches, gain 1 − a/b per resource at most, and only while the SLO holds. Hence
 *
 *     cost of a change = w · (1−α) · Σ over resources (1 − smaller total / larger total)
 *
 * takes all of the gain exactly when w ≥ 1/2: `sharpSwitchCost`. Where the small setting is kept for m steps at a time
 * the gain is m(1 − a/b) for two switches, so w = m/2 is the general condition. Both directions are tested: no pair of
 * allocations beats the better of the two with it, some pair does with less. What it rests on: work is conserved, and
 * having had less CPU before never makes a step faster. Two settings that each starve another resource are beyond it.
 */
import type { Allocation } from "../../../act/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Measures } from "./observation.ts";

export interface RewardInput {
  /** Measured in or after the step. */
  readonly measures: Pick<Measures, "preservation" | "margin" | "cpu" | "memory">;
  /** What the step ran with. */
  readonly allocation: Allocation;
  /** What the step before it ran with. */
  readonly previous: Allocation;
}

export interface RewardParts {
  readonly total: number;
  /** α·SP·|R| */
  readonly slo: number;
  /** (1−α)·Σ RU */
  readonly utilisation: number;
  readonly switchCost: number;
}

const resources = ["cpu", "memory"] as const;

type RewardTask = Pick<AutoscaleTask, "alpha" | "headroom" | "switchCost" | "utilisation">;

export function rewardParts(task: RewardTask, { measures, allocation, previous }: RewardInput): RewardParts {
  const { alpha, utilisation: target } = task;
  const slo = alpha * preservationOf(task, measures) * resources.length;
  let used = 0;
  for (const resource of resources) used += Math.min(1, measures[resource] / target[resource]);
  const utilisation = (1 - alpha) * used;
  const switchCost = task.switchCost === 0 ? 0 : costOfChange(task, allocation, previous);
  return { total: slo + utilisation - switchCost, slo, utilisation, switchCost };
}

/**
 * SP against a target that is nearer by the head-room. A percentile of a minute jumps about: whoever earns most right at
 * the target misses it every other minute. From the margin m = (1 − p)/(1 + p), so p = (1 − m)/(1 + m). Where the SLO is
 * missed the margin is SP − 1 and the same comes to SP/(2 − SP), which falls twice as fast at first.
 */
function preservationOf({ headroom }: RewardTask, { preservation, margin }: RewardInput["measures"]): number {
  if (headroom === 0 || margin >= 1) return preservation;
  return Math.min(preservation, ((1 - headroom) * (1 + margin)) / (1 - margin));
}

/** Without a switch cost from 0 to 2 a step, so from 0 to 200 an episode of 100. */
export const reward = (task: RewardTask, input: RewardInput): number => rewardParts(task, input).total;

/** How far two allocations are apart: per resource one less than the ratio of their totals takes away; 0 to 2. */
export function allocationGap(one: Allocation, other: Allocation): number {
  let gap = 0;
  for (const resource of resources) {
    const [a, b] = [one.replicas * one[resource], other.replicas * other[resource]];
    const larger = Math.max(a, b);
    if (larger > 0) gap += 1 - Math.min(a, b) / larger;
  }
  return gap;
}

function costOfChange({ alpha, switchCost }: RewardTask, allocation: Allocation, previous: Allocation): number {
  return switchCost * (1 - alpha) * allocationGap(allocation, previous);
}
