/**
 * The agent's life as data: stages, what they remember, what is put before the manager, and what it reports.
 * Owns: the types and the small figures taken from them. Not here: who may pass (lifecycle.ts).
 *
 * Each stage carries only what belongs to it, so that a canary in OFFLINE or a shadow in SERVING cannot be written down.
 * All of it is plain JSON.
 */
import type { Ms, Stage } from "../../base/index.ts";

/** One ended episode, whoever acted in it. */
export interface EpisodeScore {
  readonly episode: number;
  /** Sum of the step rewards; where some could not be known, scaled to the whole episode. */
  readonly reward: number;
  /** Steps in which the SLO was missed. */
  readonly violations: number;
  /** Steps in which the fallback would have missed it at the same loads, as far as it was watched. */
  readonly usual: number;
  /** Share of the steps that the learner took. */
  readonly learnerShare: number;
  /** Share of the steps that the fallback had to take because of a fault of the learner. */
  readonly faultShare: number;
  readonly steps: number;
  /** What the learner's settings cost, or would have cost where it did not act, and what the fallback's alone would have. */
  readonly cost: number;
  readonly fallbackCost: number;
}

/** What the learner would have done in an episode in which it did not act. */
export interface ShadowScore {
  readonly steps: number;
  readonly failures: number;
  readonly trips: number;
  readonly risky: number;
  /** Mean distance between its proposals and what was done, in action coordinates. For people: no gate looks at it. */
  readonly distance: number;
}

/** What the candidate would earn in an episode, estimated from others' episodes. */
export interface OffPolicyScore {
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
  /**
   * The difference to those who acted in the episodes, and its lower bound. The luck of the episodes is in both and
   * cancels, so it is the sharper measure where the threshold is relative to the fallback.
   */
  readonly gainMean: number;
  readonly gainLower: number;
  /** How it was made, and how much it rests on. */
  readonly method: string;
  readonly episodes: number;
}

/** What the fallback was measured to do on this workload. */
export interface FallbackLevel {
  readonly reward: number;
  readonly deviation: number;
  readonly episodes: number;
}

export const offlineCauses = [
  "bootstrap",
  "retraining",
  "rollback",
  "learner-lost",
  "not-worth",
  "candidate",
  "operator",
] as const;
export const onlineCauses = [
  "no-bootstrap",
  "shared-policy",
  "earned",
  "model-ready",
  "fallback-fails",
  "retraining",
  "operator",
] as const;
export type OfflineCause = (typeof offlineCauses)[number];
export type OnlineCause = (typeof onlineCauses)[number];

export type Canary = { readonly kind: "trial"; readonly band: number } | { readonly kind: "passed" };

/** What an agent knows in every stage. */
interface Memory {
  /** Episodes ended in this life. */
  readonly episodes: number;
  /** The newest episodes in which the fallback acted: its measured level. */
  readonly fallback: readonly EpisodeScore[];
  readonly rollbacks: number;
  /**
   * How it came to where it is, oldest first: the newest moves from stage to stage. Part of the state, so that no moment
   * exists, and no save, in which a stage is known and the way there is not.
   */
  readonly history: readonly StageMove[];
}

interface Initialized {
  readonly stage: "INITIALIZED";
}

interface Offline {
  readonly stage: "OFFLINE";
  readonly because: OfflineCause;
  /** Rewards recorded since the stage began: the fallback's own. */
  readonly recent: readonly EpisodeScore[];
  /** Episodes to go before an attempt. */
  readonly wait: number;
  readonly shadow: readonly ShadowScore[];
  readonly estimate: { readonly score: OffPolicyScore; readonly age: number } | null;
}

interface Online {
  readonly stage: "ONLINE";
  readonly because: OnlineCause;
  readonly recent: readonly EpisodeScore[];
  /** Best mean of a full window since this training began. */
  readonly best: number | null;
  readonly canary: Canary;
  /** Steps of violation beyond the fallback's level since the learner took over. */
  readonly excess: number;
}

interface Serving {
  readonly stage: "SERVING";
  readonly recent: readonly EpisodeScore[];
  readonly best: number | null;
  readonly excess: number;
}

export type AgentState = Memory & (Initialized | Offline | Online | Serving);
export type StateOf<S extends Stage> = Extract<AgentState, { readonly stage: S }>;

export const freshAgentState: AgentState = Object.freeze({
  stage: "INITIALIZED",
  episodes: 0,
  fallback: [],
  rollbacks: 0,
  history: [],
});

export type Evidence =
  | {
      readonly kind: "start";
      readonly at: Ms;
      /** A policy that others' workloads trained is there to begin with, or was to be and cannot be used. */
      readonly shared?: "ready" | "unusable";
    }
  | {
      readonly kind: "episode";
      readonly at: Ms;
      readonly score: EpisodeScore;
      /** null when the learner did not run beside the fallback. */
      readonly shadow: ShadowScore | null;
    }
  | { readonly kind: "estimate"; readonly at: Ms; readonly score: OffPolicyScore }
  /** The policy is gone or damaged, and no good checkpoint is left to go back to. */
  | { readonly kind: "learner-lost"; readonly at: Ms; readonly detail: string }
  /** The fallback acts and misses the objective by far, and the task's own model has something else to try. */
  | { readonly kind: "fallback-fails"; readonly at: Ms }
  /** Another policy is there, which learned elsewhere: nothing is known of how it does here. */
  | { readonly kind: "candidate"; readonly at: Ms; readonly detail: string }
  /** A person decided: the next stage up, or back to where the fallback acts. `detail` says who, or why. */
  | { readonly kind: "operator"; readonly at: Ms; readonly wish: OperatorWish; readonly detail: string };

export type OperatorWish = "promote" | "roll-back";

/** Why a stage was left, or why it was not. Each judgement names what it looked at. */
export interface Judgement {
  readonly gate:
    | "fallback-level"
    | "wait"
    | "reward"
    | "deviation"
    | "shadow"
    | "canary"
    | "excess"
    | "worth"
    | "faults"
    | "policy"
    | "operator";
  readonly holds: boolean;
  /** What was found and what it was compared with; null where it is not known yet. */
  readonly found: number | null;
  readonly asked: number | null;
  readonly about: string;
}

/** From one stage to another, and why. */
export interface StageMove {
  readonly at: Ms;
  readonly from: Stage;
  readonly to: Stage;
  readonly because: string;
  readonly evidence: readonly Judgement[];
}

export type LifecycleEvent =
  | ({ readonly kind: "transition" } & StageMove)
  | {
      readonly kind: "canary";
      readonly at: Ms;
      readonly from: number;
      /** null: passed, no band any more. */
      readonly to: number | null;
      readonly evidence: readonly Judgement[];
    }
  | { readonly kind: "threshold-out-of-reach"; readonly at: Ms; readonly evidence: readonly Judgement[] };

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of the values themselves (divided by n): the window is all there is, not a sample of it. */
export function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}

/** The last `count` of them, with the new one. */
export function withNewest<T>(items: readonly T[], item: T, count: number): readonly T[] {
  return [...items, item].slice(-count);
}

export function fallbackLevel({ fallback }: Pick<AgentState, "fallback">): FallbackLevel | null {
  if (fallback.length === 0) return null;
  const rewards = fallback.map(({ reward }) => reward);
  return {
    reward: meanOf(rewards),
    deviation: deviationOf(rewards),
    episodes: fallback.length,
  };
}
