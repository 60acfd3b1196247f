/**
 * What the owner of one workload asks for: AWARE's user profile.
 * Owns: its shape, what it may not say, and the task that follows from it.
 * Not here: its thresholds and their rule (thresholds.ts), the YAML it is written in (cli/config), the resource it is
 * in a cluster (control/mpa).
 */
import { dimensions } from "../../../act/index.ts";
import type { Mode, Ms, Ratio, Result, WorkloadId } from "../../../base/index.ts";
import type { Slo } from "../../../observe/telemetry/index.ts";
import { parseSlo } from "../../../observe/telemetry/index.ts";
import type { ThresholdProblem, Thresholds } from "../../index.ts";
import { thresholdProblems } from "../../index.ts";
import type { AutoscaleOptions, AutoscaleTask } from "./autoscale.ts";
import { autoscaleTask, mostPerEpisode, productMode } from "./autoscale.ts";
import type { LearnerChoice } from "./learner.ts";
import { learnsFromOf } from "./learner.ts";
import type { PodBounds, PodGuard } from "./limits.ts";
import { profileLimits } from "./limits.ts";
import type { Aim, ObjectiveKind } from "./rates.ts";
import { aimProblems } from "./rates.ts";

/** Its aim is the least of something within the error budget, around the capacity model's plan; or the paper's reward, around the fallback. */
export interface WorkloadProfile extends Aim {
  readonly workload: WorkloadId;
  readonly slo: Slo;
  readonly bounds: PodBounds;
  /** The share of control steps that are to keep the SLO. */
  readonly attainment: Ratio;
  /** Whether a prior that was searched in a model of the workload may plan where it would be cheaper; absent: no. */
  readonly portfolio?: boolean;
  /** How fast its guard lets it change, for learner and fallback alike; absent: as usual. */
  readonly guard?: PodGuard;
  /** Utilisation that counts in full. */
  readonly utilisation: { readonly cpu: Ratio; readonly memory: Ratio };
  readonly reward: {
    readonly alpha: number;
    readonly headroom: number;
    readonly switchCost: number;
    readonly thresholds: Thresholds;
  };
  /** Whether the fallback acts until the learner has learned from it. */
  readonly bootstrap: boolean;
  /** High: while the learner is being retrained, the fallback acts. */
  readonly stakes: "high" | "normal";
  /** With the paper's reward: steps of violation beyond the fallback's that may be risked to find CPU to save; 0: none. */
  readonly risk: number;
  /** recommend: nothing is carried out; canary: the learner stays near the fallback; act: all of it. */
  readonly mode: Mode;
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  /**
   * A file, or a folder that a pre-training left: the agent begins with its policy under the workload's embedding, at once
   * where stakes are normal, after bootstrapping where they are high. Where it cannot be used the fallback acts.
   */
  readonly sharedModel?: string;
  /** Another learner than the usual one. Whether it is there is known where learners are loaded (`learnerAlgorithm`). */
  readonly learner?: LearnerChoice;
}

/**
 * By cost an episode earns the percentage of the fallback's bill that it saves, less what its misses are worth: one that is
 * worth nothing has nothing to be frozen for. How much can be saved changes over a day, so its deviation says little.
 */
export const usualThresholds: Readonly<Record<"cost" | "paper", Thresholds>> = Object.freeze({
  cost: {
    online: { kind: "absolute", value: 0 },
    serving: { kind: "absolute", value: 0 },
    deviation: { kind: "absolute", value: 50 },
  },
  paper: {
    online: { kind: "fallback", times: 1, plus: 0 },
    serving: { kind: "fallback", times: 1.05, plus: 0 },
    deviation: { kind: "fallback", times: 1.5, atLeast: 5 },
  },
});

/** Money, energy and carbon are all compared with the fallback's. */
export const thresholdsFor = (objective: ObjectiveKind): Thresholds =>
  objective === "paper" ? usualThresholds.paper : usualThresholds.cost;

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
  for (const { key, reason } of aimProblems(profile)) report([key], reason);
  if (profile.sharedModel !== undefined && profile.objective !== "paper")
    report(["objective"], "must be paper where there is a sharedModel: such models are trained for the paper's reward");
  if (profile.objective !== "paper" && profile.risk > 0)
    report(
      ["risk"],
      `must be left out where the objective is ${profile.objective}: there the attainment says what may be missed`,
    );
  if (profile.portfolio && profile.objective === "paper")
    report(["portfolio"], "must be left out where the objective is paper: there nobody plans");
  if (profile.learner !== undefined && profile.sharedModel !== undefined)
    report(["learner"], "must be left out where there is a sharedModel: the agent goes on with that model's learner");
  if (profile.learner !== undefined && learnsFromOf(profile.learner) === "own-rollout") {
    const why = `the learner '${profile.learner.kind}' learns from its own steps only, and OFFLINE, where the fallback acts, it has none`;
    if (profile.bootstrap) report(["bootstrap"], `must be false here: ${why}, so it would never get any further`);
    if (profile.stakes === "high")
      report(["stakes"], `must be normal here: ${why}, so it could not be retrained there`);
  }
  const { reward, bootstrap } = profile;
  const place = (field: ThresholdProblem["field"]): readonly string[] =>
    field === "bootstrap" ? [field] : ["reward", "thresholds", field];
  for (const { field, reason } of thresholdProblems({
    ...reward.thresholds,
    bootstrap,
    maxReward: mostPerEpisode(profile),
  }))
    report(place(field), reason);
  const { deviation } = reward.thresholds;
  // The lifecycle could keep it, and studies use it to say "never"; an owner who writes it means something else.
  if (deviation.kind === "absolute" && deviation.value === 0)
    report(place("deviation"), "can never be met: rewards under a changing load always vary, give more than 0");
  const task = profileTask(profile);
  if (problems.length === 0 && !task.ok) report([], task.failure.message);
  const limits = profileLimits(profile);
  if (problems.length === 0 && !limits.ok) report(["guard"], `is refused: ${limits.failure.message}`);
  return problems;
}

/** The task that the profile asks for; `further` are settings of the learner that owners do not see. */
export function profileTask(
  profile: WorkloadProfile,
  further: Partial<Pick<AutoscaleOptions, "features" | "maxAge" | "usualLoad">> = {},
): Result<AutoscaleTask> {
  const { slo, bounds, utilisation, reward, controlStep, episodeSteps, attainment } = profile;
  const { objective, carbonIntensity, weights, portfolio = false } = profile;
  const { alpha, headroom, switchCost } = reward;
  return autoscaleTask({
    slo,
    bounds,
    utilisation,
    alpha,
    headroom,
    switchCost,
    controlStep,
    episodeSteps,
    attainment,
    ...(objective === "paper" ? {} : { ...productMode, objective, carbonIntensity, weights, portfolio }),
    ...further,
  });
}
