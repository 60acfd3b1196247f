/**
 * What the owner of one workload asks for: AWARE's user profile.
 * Owns: its shape, what it may not say, and the task that follows from it.
 * Not here: the YAML it is written in (cli/config), the resource it is in a cluster (control/mpa), judging by its
 * thresholds (control/lifecycle, whose types these fit).
 */
import type { GuardLimits } from "../../act/index.ts";
import { dimensions } from "../../act/index.ts";
import type { Ms, Ratio, Result, WorkloadId } from "../../base/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import { parseSlo } from "../../observe/telemetry/index.ts";
import type { AutoscaleOptions, AutoscaleTask } from "./autoscale.ts";
import { autoscaleTask, mostPerEpisode } from "./autoscale.ts";

/** A mean reward per episode: a number, or one that is known once the fallback, or the policy, has been measured. */
export type RewardThreshold =
  | { readonly kind: "absolute"; readonly value: number }
  | { readonly kind: "fallback"; readonly times: number; readonly plus: number }
  | { readonly kind: "converged"; readonly below: number };

export type DeviationThreshold =
  | { readonly kind: "absolute"; readonly value: number }
  | { readonly kind: "fallback"; readonly times: number; readonly atLeast: number };

export interface WorkloadProfile {
  readonly workload: WorkloadId;
  readonly slo: Slo;
  readonly bounds: GuardLimits["bounds"];
  /** Utilisation that counts in full. */
  readonly utilisation: { readonly cpu: Ratio; readonly memory: Ratio };
  readonly reward: {
    readonly alpha: number;
    readonly switchCost: number;
    readonly thresholds: {
      /** Reached by the learner's estimate before it may act: T_online. */
      readonly online: RewardThreshold;
      /** Reached by what it earns before it stops learning; below it, it learns again: T_serving. */
      readonly serving: RewardThreshold;
      /** The deviation of episode rewards that is still called steady: T_var. */
      readonly deviation: DeviationThreshold;
    };
  };
  /** Whether the fallback acts until the learner has learned from it. */
  readonly bootstrap: boolean;
  /** High: while the learner is being retrained, the fallback acts. */
  readonly stakes: "high" | "normal";
  /** recommend: nothing is carried out; canary: the learner stays near the fallback; act: all of it. */
  readonly mode: "recommend" | "canary" | "act";
  readonly controlStep: Ms;
  readonly episodeSteps: number;
}

/** A place in the profile and what is wrong there, as the end of a sentence that begins with the place. */
export interface ProfileProblem {
  readonly path: readonly string[];
  readonly reason: string;
}

export function profileProblems(profile: WorkloadProfile): readonly ProfileProblem[] {
  const problems: ProfileProblem[] = [];
  const report = (path: readonly string[], reason: string): void => {
    problems.push({ path, reason });
  };
  const slo = parseSlo(profile.slo);
  if (!slo.ok) report(["slo"], `is refused: ${slo.failure.message}`);
  for (const dimension of dimensions) {
    const { min, max } = profile.bounds[dimension];
    if (min > max) report(["bounds", dimension, "max"], `must be at least min, which is ${min}, and is ${max}`);
  }
  const most = mostPerEpisode(profile);
  const { online, serving, deviation } = profile.reward.thresholds;
  const thresholds = ["reward", "thresholds"];
  const about = (name: string, threshold: RewardThreshold): void => {
    const reason = neverMet(threshold, most);
    if (reason !== undefined) report([...thresholds, name], reason);
  };
  about("online", online);
  about("serving", serving);
  if (online.kind === "converged")
    report(
      [...thresholds, "online"],
      "can not be relative to a converged policy: before the learner acts there is none",
    );
  const spread = deviation.kind === "absolute" ? deviation.value : Math.max(deviation.times, deviation.atLeast);
  if (!(spread > 0))
    report(
      [...thresholds, "deviation"],
      "can never be met: rewards under a changing load always vary, give more than 0",
    );
  const task = profileTask(profile);
  if (problems.length === 0 && !task.ok) report([], task.failure.message);
  return problems;
}

/** Nobody earns more than the most of an episode, nor, whatever the fallback earns, a level that begins beyond it. */
function neverMet(threshold: RewardThreshold, most: number): string | undefined {
  switch (threshold.kind) {
    case "absolute":
      return threshold.value > most
        ? `can never be met: an episode earns at most ${most}, and ${threshold.value} is asked for`
        : undefined;
    case "fallback":
      if (!(threshold.times >= 0)) return `must be a factor from 0, and is ${threshold.times}`;
      return threshold.plus > most
        ? `can never be met: an episode earns at most ${most}, and ${threshold.plus} more than the fallback is asked for`
        : undefined;
    case "converged":
      return threshold.below >= 0
        ? undefined
        : `can never be met: it asks for more than the policy's own best, by ${-threshold.below}`;
  }
}

/** The task that the profile asks for; `further` are settings of the learner that owners do not see. */
export function profileTask(
  { slo, bounds, utilisation, reward, controlStep, episodeSteps }: WorkloadProfile,
  further: Partial<Pick<AutoscaleOptions, "features" | "maxAge" | "usualLoad">> = {},
): Result<AutoscaleTask> {
  const { alpha, switchCost } = reward;
  return autoscaleTask({ slo, bounds, utilisation, alpha, switchCost, controlStep, episodeSteps, ...further });
}
