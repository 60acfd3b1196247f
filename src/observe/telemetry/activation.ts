/**
 * What a serverless platform writes down of each call that ended, and the port through which such records come in.
 * Owns: the shape of a record, and where a reader of records stands.
 * Not here: where they come from (sim/ and adapters/), what is made of them (activation-window.ts).
 */
import type { Ms, Result, WorkloadId } from "../../base/index.ts";

/** Answered, whatever the answer; killed for memory; given up by the platform, or at its time limit; not even queued. */
export type ActivationOutcome = "completed" | "killed" | "dropped" | "refused";

/** Times in ms. */
export interface ActivationRecord {
  readonly workload: WorkloadId;
  readonly arrivedAt: Ms;
  readonly outcome: ActivationOutcome;
  /** For a container, and on the platform's own way; the start of a container for it; at work. */
  readonly waiting: number;
  readonly coldStart: number;
  readonly execution: number;
}

/** A record in a store that is asked again and again. */
export interface StoredActivation extends ActivationRecord {
  readonly id: string;
  /** What it ran under: MiB of its container, and activations that a container may serve at once. */
  readonly memory: number;
  readonly concurrency: number;
}

/** Where a reader stands. Plain data, so that it can be saved and gone on with. */
export interface ActivationCursor {
  /** Records of calls that began before are not asked for. */
  readonly since: Ms;
  /** Ids of those that began later and were handed out already. */
  readonly seen: readonly string[];
}

export interface ActivationBatch {
  /** New ones, in the order of their ends. */
  readonly records: readonly StoredActivation[];
  readonly cursor: ActivationCursor;
  /** False where there were more than are read at once: the oldest of them are lost. */
  readonly isComplete: boolean;
  /** Records that could not be read, and were left out. */
  readonly malformed: number;
}

export interface DeployedFunction {
  readonly workload: WorkloadId;
  /** As the platform calls it: `nodejs:20`. */
  readonly runtime: string;
  /** MiB. */
  readonly memory: number;
}

export interface DeployedFunctions {
  readonly functions: readonly DeployedFunction[];
  /** Names of those that cannot be managed: they run nowhere themselves, or have a name that ids cannot carry. */
  readonly leftOut: readonly string[];
}

export interface ActivationSource {
  functions(signal: AbortSignal): Promise<Result<DeployedFunctions>>;
  /** Records that the cursor has not seen yet. A failure moves nothing: ask again with the same cursor. */
  activations(cursor: ActivationCursor, signal: AbortSignal): Promise<Result<ActivationBatch>>;
}
