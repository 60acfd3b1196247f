/**
 * What the owner of a workload asks of its agent's life: thresholds, gates and stakes.
 * Owns: gates and stakes, the defaults, the paper's own setting, and the refusal of what can never be kept.
 * Not here: the thresholds' types and their rule (control/thresholds.ts, since owners write them), judging anything by them
 * (lifecycle.ts), the YAML they come from (cli/config).
 */
import type { Mode, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Thresholds } from "../index.ts";
import { thresholdProblems } from "../index.ts";

/** OFFLINE → ONLINE looks at the candidate's estimated reward, which has to reach T_online. */
export interface OffPolicyGate {
  readonly maxAgeEpisodes: number;
  /**
   * How far below T_online the lower bound of the estimate may lie, as a share of it. A candidate that is as good as the
   * fallback has a lower bound below the fallback's level however long one waits, so 0 asks for one that is clearly
   * better; canary, shield and rollback stand behind the rest.
   */
  readonly margin: number;
}

export interface ShadowGate {
  /** Episodes of shadow proposals that are looked at. */
  readonly episodes: number;
  /** Share of the proposals that the guard would have had to correct. */
  readonly maxTripRate: number;
  /** Share of the steps without a usable proposal at all. */
  readonly maxFailureRate: number;
  /** Share of the proposals that would have given less than there was while the SLO was being missed. */
  readonly maxRiskyRate: number;
}

export interface CanaryGate {
  /** How far the learner may go from the fallback at first, in action coordinates, where the whole range is 2. */
  readonly start: number;
  /** Factor on the band after an episode without extra violations. */
  readonly widen: number;
  /** Factor on the band after an episode with some. */
  readonly narrow: number;
  /** Steps of violation per episode that are forgiven above the fallback's. */
  readonly allowance: number;
  /** Share of the fallback's reward that an episode may lack, or two of its deviations where that is more. */
  readonly slack: number;
}

export interface RollbackGate {
  /**
   * Steps of violation above the fallback's level, summed since the learner took over, that end its turn; the same after each
   * rollback. null: they never do, because the task's model answers them, and the fallback knows less than it does.
   */
  readonly excess: number | null;
  /** How many steps of fewer violations may be saved up against later ones. */
  readonly credit: number;
  /** Share of an episode's steps that the fallback had to take because of the learner's own faults. */
  readonly maxFaultShare: number;
  /** Fallback episodes after a rollback before the next attempt. Doubled by each rollback. */
  readonly wait: number;
}

/**
 * Of learner and fallback the cheaper one acts, as long as the fallback keeps the error budget: whoever misses it has no claim
 * to be cheap. By what both cost over the window of episodes, one of them measured and the other reckoned.
 */
export interface WorthGate {
  /** Share of steps that may miss the objective. */
  readonly budget: number;
  /** How much dearer than the fallback the learner may become, as a share, before its turn ends. */
  readonly dearer: number;
}

/** What must hold beyond the paper's Algorithm 1. Each can be switched off by itself. */
export interface Gates {
  /**
   * The task's own model proposes, which learns by watching: instead of an estimate of its reward, all that is asked before it
   * acts is that it has had proposals, in shadow. Absent: no.
   */
  readonly byModel?: boolean;
  /** null: OFFLINE → ONLINE looks at the recorded rewards, as the paper says. */
  readonly offPolicy: OffPolicyGate | null;
  readonly shadow: ShadowGate | null;
  readonly canary: CanaryGate | null;
  readonly rollback: RollbackGate | null;
  /** Absent: whatever it costs. */
  readonly worth?: WorthGate;
}

export interface LifecycleProfile extends Thresholds {
  readonly bootstrap: boolean;
  /** High: while the policy is being retrained, the fallback acts. */
  readonly stakes: "normal" | "high";
  /** recommend: nothing is carried out; canary: the learner stays within the canary's first band; act: all of it. */
  readonly mode: Mode;
  /** Episodes over which mean and deviation are taken. */
  readonly window: number;
  /** The most that an episode can earn. */
  readonly maxReward: number;
  /** Share of learner proposals that the guard corrected or refused, above which the fallback acts. */
  readonly maxTripRate: number;
  readonly gates: Gates;
}

export const defaultGates: Gates = Object.freeze({
  offPolicy: { maxAgeEpisodes: 10, margin: 0.1 },
  shadow: { episodes: 3, maxTripRate: 0.5, maxFailureRate: 0.02, maxRiskyRate: 0.25 },
  canary: { start: 0.2, widen: 1.5, narrow: 0.5, allowance: 1, slack: 0.05 },
  rollback: { excess: 10, credit: 10, maxFaultShare: 0.5, wait: 5 },
});

/**
 * For tasks with a model of their own, which acts once it has had something to say in nine of ten steps. In canary mode it also
 * stays near the fallback, whose level is measured first. `attainment`: the share of steps that are to keep the objective.
 */
export const modelGates = ({ mode, attainment }: { readonly mode: Mode; readonly attainment: number }): Gates => ({
  byModel: true,
  offPolicy: null,
  shadow: { episodes: 1, maxTripRate: 0.5, maxFailureRate: 0.1, maxRiskyRate: 0.5 },
  canary: mode === "canary" ? defaultGates.canary : null,
  rollback: { excess: null, credit: 0, maxFaultShare: 0.5, wait: 5 },
  worth: { budget: 1 - attainment, dearer: 0.05 },
});

/** The paper's manager has none of them. */
export const noGates: Gates = Object.freeze({ offPolicy: null, shadow: null, canary: null, rollback: null });

const defaults: LifecycleProfile = {
  bootstrap: true,
  stakes: "normal",
  mode: "act",
  online: { kind: "fallback", times: 1, plus: 0 },
  // A policy that earns only as much as the rules has nothing to be frozen for: it goes on learning.
  serving: { kind: "fallback", times: 1.05, plus: 0 },
  deviation: { kind: "fallback", times: 1.5, atLeast: 5 },
  window: 10,
  // A hundred steps of at most two each.
  maxReward: 200,
  maxTripRate: 0.5,
  gates: defaultGates,
};

/** Algorithm 1 with the thresholds of sections 5.3 and 5.4: 130 to leave OFFLINE, 5 below the converged level to retrain. */
export const paperProfile: LifecycleProfile = Object.freeze<LifecycleProfile>({
  ...defaults,
  online: { kind: "absolute", value: 130 },
  serving: { kind: "converged", below: 5 },
  deviation: { kind: "absolute", value: 5 },
  gates: noGates,
});

export function parseLifecycleProfile(options: Partial<LifecycleProfile> = {}): Result<LifecycleProfile> {
  const profile: LifecycleProfile = { ...defaults, ...options };
  const problem = problemOf(profile);
  if (problem === undefined) return ok(Object.freeze(profile));
  return err(failure("lifecycle.profile", `the lifecycle cannot be kept as asked: ${problem}`));
}

/** What the profile of any workload says about its agent's life. */
export interface OwnersProfile extends Pick<LifecycleProfile, "bootstrap" | "stakes" | "mode"> {
  readonly reward: { readonly thresholds: Thresholds };
}

/** What owners do not see; the most that an episode can earn is the task's. */
type Further = Pick<LifecycleProfile, "maxReward"> &
  Partial<Pick<LifecycleProfile, "window" | "maxTripRate" | "gates">>;

/** The life that a workload's owner asks for. */
export function lifecycleOf(
  { bootstrap, stakes, mode, reward }: OwnersProfile,
  further: Further,
): Result<LifecycleProfile> {
  const { online, serving, deviation } = reward.thresholds;
  return parseLifecycleProfile({ bootstrap, stakes, mode, online, serving, deviation, ...further });
}

function problemOf(profile: LifecycleProfile): string | undefined {
  const { window, maxReward, maxTripRate, gates } = profile;
  if (!Number.isInteger(window) || window < 2)
    return `the window is ${window} episodes: give a whole number from 2, or there is no deviation to look at`;
  if (!(maxReward > 0 && Number.isFinite(maxReward)))
    return `the most an episode can earn is ${maxReward}: give a positive number`;
  if (!(maxTripRate >= 0 && maxTripRate <= 1)) return `maxTripRate is ${maxTripRate}: give a share from 0 to 1`;
  const [threshold] = thresholdProblems(profile);
  return threshold === undefined ? gatesProblem(gates) : `${threshold.field} ${threshold.reason}`;
}

function gatesProblem({ offPolicy, shadow, canary, rollback, worth }: Gates): string | undefined {
  if (offPolicy && !(offPolicy.maxAgeEpisodes >= 1))
    return `estimates may be ${offPolicy.maxAgeEpisodes} episodes old: give 1 or more`;
  if (offPolicy && !(offPolicy.margin >= 0 && offPolicy.margin <= 1))
    return `the lower bound of an estimate may lie ${offPolicy.margin} of the threshold below it: give a share from 0 to 1`;
  if (shadow && !(shadow.episodes >= 1)) return `the shadow runs for ${shadow.episodes} episodes: give 1 or more`;
  if (worth && !(worth.budget >= 0 && worth.budget <= 1 && worth.dearer >= 0))
    return `the budget is ${worth.budget} and the learner may be dearer by ${worth.dearer}: give shares from 0`;
  if (canary && !(canary.start > 0 && canary.start <= 2))
    return `the canary starts with a band of ${canary.start}: give more than 0 and at most 2, the whole range`;
  if (canary && !(canary.widen > 1))
    return `the canary widens by ${canary.widen}: give more than 1, or it would never end`;
  if (canary && !(canary.narrow > 0 && canary.narrow <= 1))
    return `the canary narrows by ${canary.narrow}: give more than 0 and at most 1`;
  if (canary && !(canary.allowance >= 0)) return `the canary forgives ${canary.allowance} steps: give 0 or more`;
  if (canary && !(canary.slack >= 0)) return `the canary may lack ${canary.slack} of the reward: give 0 or more`;
  if (rollback && !((rollback.excess ?? 0) >= 0 && rollback.credit >= 0 && rollback.wait >= 0))
    return `the rollback's excess, credit and wait are ${rollback.excess}, ${rollback.credit} and ${rollback.wait}: give 0 or more`;
  return undefined;
}
