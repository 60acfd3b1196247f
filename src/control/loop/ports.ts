/**
 * What the loop needs from outside, and what it says to the outside.
 * Owns: the loop's ports and its events. Not here: telemetry's and the actuator's own ports (observe/telemetry, act),
 * implementations (adapters/, sim/), the agent's decisions (control/lifecycle).
 *
 * Every port may be slow, may throw or may never answer: the loop bounds each call and goes on without it.
 */
import type { Action, NodeRoom, Setting } from "../../act/index.ts";
import type { Actor, AgentId, Failure, Ms, Reason, Result, WorkloadId } from "../../base/index.ts";
import type { EpisodeEnd, Transition } from "../../learn/trajectory/index.ts";
import type { TaskReading } from "../index.ts";

/** What nodes have for a workload. Without this port room is taken for unlimited, as an autoscaling cluster has it. */
export interface NodeSource {
  nodes(workload: WorkloadId, signal: AbortSignal): Promise<Result<readonly NodeRoom[]>>;
}

/** Work for a thread that is not the loop's, named by plain data; what comes back is plain data too. */
export interface TrainingJob {
  readonly agent: AgentId;
  readonly kind: string;
  readonly config: unknown;
}

export interface Trainer {
  /** How many jobs can run at once; more wait or are refused. */
  readonly slots: number;
  /** A failure or a rejection loses this one round of training and nothing else. */
  train(job: TrainingJob, signal: AbortSignal): Promise<Result<unknown>>;
}

/** Keeps an agent's saved state: whole files only, and the one before the newest as well. */
export interface StateStore {
  write(agent: AgentId, state: Uint8Array, signal: AbortSignal): Promise<Result<void>>;
  /** Newest first; none at all for an agent that was never saved. Damaged ones are left out and told as failures. */
  read(agent: AgentId, signal: AbortSignal): Promise<Result<SavedStates>>;
  /** Moves what is there out of the way of later writes, for a person to look at: it was refused, not lost. */
  setAside(agent: AgentId, signal: AbortSignal): Promise<Result<void>>;
}

export interface SavedStates {
  readonly states: readonly Uint8Array[];
  readonly damaged: readonly Failure[];
}

export interface EventSink {
  write(events: readonly LoopEvent[], signal: AbortSignal): Promise<void>;
}

export type PortName = "telemetry" | "actuator" | "nodes" | "store" | "trainer" | "state";

/** What the loop knows of its own condition; an agent may have to fall back because of it. */
export interface LoopHealth {
  /** By how much wall time moved against the monotonic clock since the last tick, where it jumped. */
  readonly clockJump?: Ms;
  /** Why the last round of training brought nothing. */
  readonly training?: Failure;
}

export interface AgentInput {
  readonly reading: Result<TaskReading>;
  readonly have: Result<Setting>;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
  readonly health: LoopHealth;
}

/** One step as the agent counts it; the loop gives the episode its lasting name. */
export interface StepNumber {
  readonly episode: number;
  readonly step: number;
}

export interface StepToRecord extends StepNumber {
  readonly obs: Float32Array;
  readonly proposed: Float32Array;
  readonly executed: Float32Array;
  readonly logProb: number | null;
  readonly actorContext?: Float32Array;
  readonly criticContext?: Float32Array;
}

export interface StepCompleted extends StepNumber {
  readonly reward: number;
  readonly end: EpisodeEnd;
  readonly finalObs?: Float32Array;
}

export interface AgentTick {
  readonly stage: string;
  readonly who: Actor;
  /** First why this one acts, then what shield and guard changed. */
  readonly why: readonly Reason[];
  /** What is to be done, guarded; hold where nothing may be done. */
  readonly action: Action;
  /** What the learner wished for, before shield and guard; null where it had no wish, or there is none. */
  readonly wished?: Setting | null;
  /** What there would be by now if the fallback had been alone; null or absent where nobody can tell. */
  readonly alone?: Setting | null;
  /** How much of the objective a model expects to be used up under what is to be done; null or absent without one. */
  readonly expectedNearness?: number | null;
  /** Absent when nothing can be learned from this step (no observation). */
  readonly step?: StepToRecord | undefined;
  /** The reward of an earlier step, now that its effect was seen. */
  readonly completed?: StepCompleted | undefined;
  readonly events: readonly AgentEvent[];
  /** Its learner was made anew and has nothing to learn from but what the saved state would have: the store has more. */
  readonly hasForgotten?: true;
}

/** A transition, a fall-back, a rejected candidate: with the evidence that it rests on. */
export interface AgentEvent {
  readonly name: string;
  readonly evidence: unknown;
}

/** What an agent learns from and its saved state has only a part of: after a restart the trajectory store brings back all. */
export interface Recollection {
  /** Steps that it can hold. */
  readonly most: number;
  /** Steps that it has from its saved state: fewer stored ones would be a loss. */
  readonly own: number;
  /**
   * Stored steps, oldest first, in portions; the first one takes the place of what is there. Answers with a failure for
   * each that it refused.
   */
  take(steps: readonly Transition[], options: { readonly isFirst: boolean }): readonly Failure[];
}

/**
 * One workload's agent as the loop drives it: synchronous, fast (microseconds), and never called by two ticks at once.
 */
export interface LoopAgent {
  /** Whatever the telemetry source handed over is unknown until this accepts it. */
  parse(arrived: unknown): Result<TaskReading>;
  tick(input: AgentInput): AgentTick;
  /** What came of the action; `executed` of the step is what was really there, in action coordinates. */
  acted(outcome: Result<Setting>): { readonly executed?: Float32Array };
  /** Work for the trainer, when there is some; asked after every tick while none is under way. */
  training(): Omit<TrainingJob, "agent"> | undefined;
  /** What the trainer made of it. A failure means that nothing was taken over. */
  adopt(outcome: unknown): Result<void>;
  save(): Uint8Array;
  /** All or nothing. */
  load(state: Uint8Array): Result<void>;
  /** Absent for an agent that learns from no past. */
  readonly recollection?: Recollection;
  dispose(): void;
}

export type LoopEvent = { readonly at: Ms; readonly agent: AgentId; readonly workload: WorkloadId } & (
  | { readonly kind: "decision"; readonly tick: AgentTick; readonly applied: Result<Setting> | null }
  | { readonly kind: "agent"; readonly event: AgentEvent }
  /** Said when a port begins to fail, fails differently, or works again; not at every tick between. */
  | { readonly kind: "port-failing"; readonly port: PortName; readonly failure: Failure }
  | { readonly kind: "port-recovered"; readonly port: PortName; readonly failures: number }
  /** A call did not answer in time and is not waited for; of `out` such calls nothing was heard yet. */
  | { readonly kind: "call-abandoned"; readonly port: PortName; readonly out: number; readonly most: number }
  | { readonly kind: "crashed"; readonly failure: Failure; readonly inARow: number }
  | {
      readonly kind: "restarted";
      readonly from: "saved" | "previous" | "nothing";
      readonly damaged: readonly Failure[];
    }
  /** After a restart: what the agent learns from, and what of the stored could not be used (once per kind of failure). */
  | {
      readonly kind: "recalled";
      readonly from: "store" | "saved";
      readonly steps: number;
      readonly skipped: readonly { readonly failure: Failure; readonly count: number }[];
    }
  | { readonly kind: "clock-jumped"; readonly by: Ms }
  | { readonly kind: "skipped"; readonly ticks: number }
);
