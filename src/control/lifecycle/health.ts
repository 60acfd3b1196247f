/**
 * Who acts in this step.
 * Owns: the named reasons for which the fallback takes over within one step, and their order.
 * Not here: how each is noticed (agent.ts), which stage the agent is in (lifecycle.ts).
 */
import type { Failure } from "../../base/index.ts";
import { isMeasuring } from "./lifecycle.ts";
import type { LifecycleProfile } from "./profile.ts";
import type { AgentState } from "./state.ts";

/** What is known of the world and of the learner at the moment of a decision. */
export interface Health {
  readonly workload: "present" | "vanished";
  /** What the workload has now, just read. */
  readonly allocation: "known" | "unknown";
  readonly clock: "steady" | "jumped";
  readonly telemetry: "fresh" | "stale" | "unusable";
  /** Of what the task itself learns of a workload; "ready" where it has none. */
  readonly model: "ready" | "learning";
  readonly checkpoint: "good" | "missing" | "corrupt" | "other-version";
  readonly learner: "well" | "crashed" | "slow" | "not-finite";
  /** Share of the newest proposals that the guard had to correct or refuse. */
  readonly guardTripRate: number;
}

export const goodHealth: Health = Object.freeze({
  workload: "present",
  allocation: "known",
  clock: "steady",
  telemetry: "fresh",
  model: "ready",
  checkpoint: "good",
  learner: "well",
  guardTripRate: 0,
});

export interface LearnersHealth {
  readonly condition: Pick<Health, "learner" | "checkpoint">;
  /** Why the last round of training brought nothing, where one was needed. */
  readonly training: Failure | undefined;
  readonly guardTripRate: number;
}

/** Written out, because a spread costs several times as much: asked twice in every tick. */
export function healthOf(
  {
    workload,
    allocation,
    clock,
    telemetry,
    model,
  }: Pick<Health, "workload" | "allocation" | "clock" | "telemetry" | "model">,
  { condition: { learner, checkpoint }, training, guardTripRate }: LearnersHealth,
): Health {
  const trained = training && (training.code.endsWith("timeout") ? "slow" : "crashed");
  return {
    workload,
    allocation,
    clock,
    telemetry,
    model,
    checkpoint,
    learner: learner === "well" && trained ? trained : learner,
    guardTripRate,
  };
}

const worldReasons = [
  "workload-vanished",
  "allocation-unknown",
  "clock-jumped",
  "telemetry-stale",
  "telemetry-unusable",
  "model-learning",
] as const;
/** Faults of the learner itself: too many of them in an episode end its turn. */
const learnerReasons = [
  "checkpoint-missing",
  "checkpoint-corrupt",
  "checkpoint-other-version",
  "learner-crashed",
  "learner-slow",
  "output-not-finite",
  "guard-trips",
] as const;

export type WorldReason = (typeof worldReasons)[number];
export type LearnerReason = (typeof learnerReasons)[number];
export type TakeoverReason = WorldReason | LearnerReason;

/** All there are: the types are made of these lists, so that tests which walk them leave none out. */
export const takeoverReasons: readonly TakeoverReason[] = [...worldReasons, ...learnerReasons];

const learnerFaults: ReadonlySet<string> = new Set(learnerReasons);

export const isLearnerFault = (why: string): why is LearnerReason => learnerFaults.has(why);

export type ActingChoice =
  | { readonly who: "learner"; readonly why: "training" | "serving" }
  | {
      readonly who: "fallback";
      readonly why:
        | TakeoverReason
        | "bootstrapping"
        | "measuring"
        | "retraining"
        | "rolled-back"
        | "cheaper"
        | "not-started"
        | "paused";
    }
  /** Recommend only: decisions are shown, and whatever manages the workload goes on managing it. */
  | { readonly who: "nobody"; readonly why: "recommend-only" };

/** The world's troubles come first: a learner that decided on nonsense is not to blame for it. */
export function troubleOf(health: Health, { maxTripRate }: LifecycleProfile): TakeoverReason | undefined {
  if (health.workload === "vanished") return "workload-vanished";
  if (health.allocation === "unknown") return "allocation-unknown";
  if (health.clock === "jumped") return "clock-jumped";
  if (health.telemetry === "stale") return "telemetry-stale";
  if (health.telemetry === "unusable") return "telemetry-unusable";
  if (health.model === "learning") return "model-learning";
  if (health.checkpoint === "missing") return "checkpoint-missing";
  if (health.checkpoint === "corrupt") return "checkpoint-corrupt";
  if (health.checkpoint === "other-version") return "checkpoint-other-version";
  if (health.learner === "crashed") return "learner-crashed";
  if (health.learner === "slow") return "learner-slow";
  if (health.learner === "not-finite") return "output-not-finite";
  // A rate that is no number is not below the limit.
  if (!(health.guardTripRate <= maxTripRate)) return "guard-trips";
  return undefined;
}

export function mayAct(profile: LifecycleProfile, state: AgentState, health: Health): ActingChoice {
  if (profile.mode === "recommend") return { who: "nobody", why: "recommend-only" };
  const trouble = troubleOf(health, profile);
  switch (state.stage) {
    case "INITIALIZED":
      return { who: "fallback", why: "not-started" };
    case "OFFLINE":
      return { who: "fallback", why: offlineWhy[state.because] };
    case "ONLINE":
      if (trouble) return { who: "fallback", why: trouble };
      return isMeasuring(profile, state) ? { who: "fallback", why: "measuring" } : { who: "learner", why: "training" };
    case "SERVING":
      return trouble ? { who: "fallback", why: trouble } : { who: "learner", why: "serving" };
  }
}

const offlineWhy = {
  bootstrap: "bootstrapping",
  retraining: "retraining",
  rollback: "rolled-back",
  "learner-lost": "rolled-back",
  "not-worth": "cheaper",
  candidate: "retraining",
  operator: "rolled-back",
} as const;

/** A person stopped the agent: whoever would act, the fallback does. */
export function whilePaused(choice: ActingChoice): ActingChoice {
  return choice.who === "nobody" ? choice : { who: "fallback", why: "paused" };
}
