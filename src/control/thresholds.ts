/**
 * The levels of reward at which an agent's stages change, and which of them could be kept at all.
 * Owns: their types, and the one rule that the check of a profile and the lifecycle both ask.
 * Not here: judging anything by them (control/lifecycle), the YAML they are written in (cli/config).
 */

/** A level that a mean of episode rewards has to reach. */
export type RewardThreshold =
  /** As in the paper: a number of reward per episode. */
  | { readonly kind: "absolute"; readonly value: number }
  /** From what the fallback was measured to earn on this very workload: times·level + plus. */
  | { readonly kind: "fallback"; readonly times: number; readonly plus: number }
  /** This far below the best window since training last began: what the paper's "retraining threshold of 5" means. */
  | { readonly kind: "converged"; readonly below: number };

/** A deviation of episode rewards that may not be passed. */
export type DeviationThreshold =
  | { readonly kind: "absolute"; readonly value: number }
  /** The load makes even a fixed controller's rewards vary: times the fallback's own deviation, and never under `atLeast`. */
  | { readonly kind: "fallback"; readonly times: number; readonly atLeast: number };

export interface Thresholds {
  /** Reached by the learner's estimate before it may act: T_online. */
  readonly online: RewardThreshold;
  /** Reached by what it earns before it stops learning; below it, it learns again: T_serving. */
  readonly serving: RewardThreshold;
  /** The deviation of episode rewards that is still called steady: T_var. */
  readonly deviation: DeviationThreshold;
}

export interface ThresholdProblem {
  readonly field: keyof Thresholds | "bootstrap";
  /** The end of a sentence that begins with the field. */
  readonly reason: string;
}

/** What can never be met, or means nothing, in an agent's life whose episodes earn at most `maxReward`. */
export function thresholdProblems({
  online,
  serving,
  deviation,
  bootstrap,
  maxReward,
}: Thresholds & { readonly bootstrap: boolean; readonly maxReward: number }): readonly ThresholdProblem[] {
  const found: readonly [ThresholdProblem["field"], string | undefined][] = [
    ["online", neverReached(online, maxReward)],
    ["serving", neverReached(serving, maxReward)],
    [
      "online",
      online.kind === "converged"
        ? "cannot be relative to a converged policy: before the learner acts there is none, so make it a number or relative to the fallback"
        : undefined,
    ],
    ["deviation", neverKept(deviation)],
    ["bootstrap", bootstrap ? undefined : neverMeasured({ serving, deviation })],
  ];
  return found.flatMap(([field, reason]) => (reason === undefined ? [] : [{ field, reason }]));
}

/** Nobody earns more than the most of an episode, nor, whatever the fallback earns, a level that begins beyond it. */
function neverReached(threshold: RewardThreshold, most: number): string | undefined {
  switch (threshold.kind) {
    case "absolute":
      if (!Number.isFinite(threshold.value)) return `must be a number, and is ${threshold.value}`;
      return threshold.value > most
        ? `can never be met: an episode earns at most ${most}, and ${threshold.value} is asked for`
        : undefined;
    case "fallback":
      if (!(threshold.times > 0 && Number.isFinite(threshold.times)))
        return `must be a factor of more than 0, and is ${threshold.times} times what the fallback earns`;
      if (!Number.isFinite(threshold.plus))
        return `must add a number to what the fallback earns, not ${threshold.plus}`;
      return threshold.plus > most
        ? `can never be met: an episode earns at most ${most}, and ${threshold.plus} more than the fallback is asked for`
        : undefined;
    case "converged":
      if (threshold.below < 0)
        return `can never be met: it asks for more than the policy's own best, by ${-threshold.below}`;
      return threshold.below <= most
        ? undefined
        : `must be 0 to ${most} below the policy's own best, and is ${threshold.below}`;
  }
}

function neverKept(limit: DeviationThreshold): string | undefined {
  if (limit.kind === "absolute")
    return limit.value >= 0
      ? undefined
      : `can never be kept: a deviation is 0 or more, and ${limit.value} is asked for`;
  return limit.times >= 0 && limit.atLeast >= 0 && limit.times + limit.atLeast > 0
    ? undefined
    : `must be numbers from 0, not both 0, and is ${limit.times} times the fallback's and at least ${limit.atLeast}`;
}

/** Without bootstrapping the fallback does not act at first, so nothing that is relative to it is known. */
function neverMeasured({ serving, deviation }: Pick<Thresholds, "serving" | "deviation">): string | undefined {
  if (serving.kind === "fallback")
    return "cannot be false while the serving threshold is relative to the fallback, which then never acts and is never measured: make serving a number or relative to the converged policy";
  return deviation.kind === "fallback" && deviation.atLeast === 0
    ? "cannot be false while the deviation is relative to the fallback alone, which then never acts and is never measured: give a number, or an atLeast of more than 0"
    : undefined;
}
