/**
 * What a plane manages, as it is told: one workload of any task with the way to its agent.
 * Owns: the types between the plane and whoever lists what runs. Not here: making agents of a task (task-target.ts).
 */
import type { Setting } from "../act/index.ts";
import type { AgentId, Result, WorkloadId } from "../base/index.ts";
import type { FallbackDocument, ModeName } from "../contract/index.ts";
import type { AnyTaskView } from "../control/index.ts";
import type { AgentState, FamiliarityReport, LifecycleProfile, OperatorWish } from "../control/lifecycle/index.ts";
import type { LoopAgent } from "../control/loop/index.ts";
import type { Learner } from "../learn/rl/index.ts";
import type { Slo } from "../observe/telemetry/index.ts";

export interface Target {
  readonly id: WorkloadId;
  readonly agent: AgentId;
  readonly title: string;
  /** Who acts where the learner does not. */
  readonly fallback: FallbackDocument;
  /** As its owner gave them; a person may change both while it runs. */
  readonly slo: Slo;
  readonly mode: ModeName;
  /** The share of steps that is to keep the SLO, below 1: the rest is its error budget. 0.99 where it is not given. */
  readonly attainment?: number;
  readonly view: AnyTaskView;
  /** What its agent wants, for a person. */
  readonly objective?: string;
  /** Who acts in the twin, where that is not the fallback. */
  readonly twinRules?: FallbackDocument;
  /** What it is known to have before anything was read; null where nobody knows. */
  readonly have: Setting | null;
  readonly twinHave: Setting | null;
  profile(mode: ModeName): LifecycleProfile;
  /** An agent as on its first day. It asks for what a person has set at every use. */
  createAgent(set: PersonSet): CreatedAgent;
  /** Its fallback alone, or the twin's other rules. */
  createRules(): LoopAgent;
}

/** What a person has set, as it is now. */
export interface PersonSet {
  readonly slo: Slo;
  readonly mode: ModeName;
  readonly isPaused: boolean;
  /** A learner that a fault can be injected into. */
  disturb(learner: Learner): Learner;
}

export interface CreatedAgent {
  readonly agent: RunningAgent;
  /** The same as the loop drives it. */
  readonly slot: LoopAgent;
}

/** What a plane shows and asks of an agent, whatever its task. */
export interface RunningAgent {
  readonly state: AgentState;
  readonly guardTripRate: number;
  readonly familiarity: FamiliarityReport | null;
  operate(wish: OperatorWish, detail: string): Result<void>;
  save(): Uint8Array;
}
