/**
 * What goes into a tick of an agent and what comes out, of a round of training too.
 * Owns: the types. Not here: the tick (agent.ts). The loop and the studies use the same.
 */
import type { Action, NodeRoom, Setting, Verdict } from "../../act/index.ts";
import type { Failure, Ms, Reason, Result, Stage } from "../../base/index.ts";
import type { End } from "../../learn/env/index.ts";
import type { UpdateStats } from "../../learn/rl/index.ts";
import type { FamiliarityReport } from "./familiarity.ts";
import type { ActingChoice } from "./health.ts";
import type { LifecycleEvent, OffPolicyScore } from "./state.ts";

export interface TickInput<R, S extends Setting> {
  readonly reading: Result<R>;
  /** What is asked for now, just read. */
  readonly have: Result<S>;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
  /** What only the shell can notice. */
  readonly health?: {
    readonly clockJump?: Ms;
    /** Why the last round of training beside the loop brought nothing. */
    readonly training?: Failure;
  };
}

/** A step as it is to be recorded; its reward comes with a later tick. */
export interface StepRecord {
  readonly episode: number;
  readonly step: number;
  readonly obs: Float32Array;
  /** The policy's own wish, before shield and guard; the executed action where it had none. */
  readonly proposed: Float32Array;
  readonly executed: Float32Array;
  readonly logProb: number | null;
  readonly actorContext?: Float32Array;
  readonly criticContext?: Float32Array;
}

/** A step that was decided and whose effect has not been measured yet. */
export interface PendingStep<S, O> {
  readonly record: StepRecord;
  readonly who: ActingChoice["who"];
  /** What the step before ran with. */
  readonly previous: S;
  /** What this one runs with, also in action coordinates. */
  readonly setting: S;
  readonly executed: Float32Array;
  /** What there would be if the fallback had been alone. */
  readonly alone: S | null;
  /** What was seen when it was decided: what the coordinates are of. */
  readonly seen: O;
}

export interface CompletedStep {
  readonly episode: number;
  readonly step: number;
  readonly reward: number;
  readonly end: End;
  /** Only at an end. */
  readonly finalObs?: Float32Array;
}

/** Who acts, and why this one. */
interface Acting {
  readonly who: string;
  readonly rule: string;
}

export type AgentEvent = { readonly at: Ms } & (
  | { readonly name: LifecycleEvent["kind"]; readonly evidence: LifecycleEvent }
  /** Somebody else acts than in the step before, though the stage is the same. */
  | {
      readonly name: "handover";
      readonly evidence: { readonly from: Acting; readonly to: Acting; readonly detail: string };
    }
  | { readonly name: "learner-restored" | "learner-rebuilt"; readonly evidence: { readonly fault: string } }
  /** Its owner chose another one than the saved policy is of. */
  | { readonly name: "learner-replaced"; readonly evidence: { readonly was: string; readonly is: string } }
  | { readonly name: "checkpoint-unusable"; readonly evidence: { readonly state: string; readonly fault: string } }
  | { readonly name: "episode-discarded"; readonly evidence: { readonly steps: number; readonly known: number } }
  | { readonly name: "estimate"; readonly evidence: OffPolicyScore }
  | {
      readonly name: "estimate-failed" | "adoption-refused" | "observation-refused" | "shared-model-unusable";
      readonly evidence: Failure;
    }
  /** What the shared model makes of the workload has changed: it is known now, or a stranger. */
  | { readonly name: "embedding"; readonly evidence: FamiliarityReport }
);

export interface Tick<S extends Setting> {
  readonly stage: Stage;
  readonly who: ActingChoice["who"];
  /** First why this one acts, then what shield and guard changed. */
  readonly why: readonly Reason[];
  /** What is to be done, guarded. */
  readonly action: Action<S>;
  readonly verdict: Verdict<S> | null;
  /** What would be done if anybody acted: in recommend mode this is all there is. */
  readonly recommended: S | null;
  /** What the learner wished for, before shield and guard; null where it had no wish. */
  readonly wished: S | null;
  /** What there would be by now if the fallback had been alone; null where nobody can tell. */
  readonly alone: S | null;
  /** How much of the objective the task's model expects to be used up under what is to be done; null without a model. */
  readonly expectedNearness: number | null;
  /** Absent when there is no observation to learn from. */
  readonly step?: StepRecord | undefined;
  /** The step before, now that its effect was measured. */
  readonly completed?: CompletedStep | undefined;
  readonly events: readonly AgentEvent[];
}

export interface TrainReport {
  readonly updates: number;
  readonly stats: UpdateStats | undefined;
  readonly estimate: OffPolicyScore | undefined;
  readonly failure: Failure | undefined;
}
