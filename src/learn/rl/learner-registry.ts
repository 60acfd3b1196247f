/**
 * Learners that users add, by the kind that their checkpoints carry.
 * Owns: kinds and finding a learner by its kind. A worker thread cannot receive a closure, so a training job names its
 * learner and each thread makes it here, as with environments (learn/env/registry.ts).
 * Not here: the built-in algorithms (algorithms.ts).
 */
import { CodedError, failure } from "../../base/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { Learner, LearnerShape } from "./learner.ts";

export interface LearnerOptions {
  readonly kernels: Kernels;
  readonly shape: LearnerShape;
  readonly seed: number;
}

/** Plain data, as it stands in a settings file. */
export type LearnerConfig = Readonly<Record<string, unknown>>;

export interface LearnerEntry {
  /** The name to choose it by, and the `kind` of its learners and their checkpoints. */
  readonly kind: string;
  /** Throws a `CodedError` where the settings make no sense. */
  create(options: LearnerOptions, config: LearnerConfig): Learner;
}

/** Names that mean a built-in algorithm, or that the shared policies of pre-training carry. */
const reserved: ReadonlySet<string> = new Set(["ppo", "dqn", "ddpg", "td3", "bcq", "constant", "adapted", "training"]);
const entries = new Map<string, LearnerEntry>();

/** Adds a learner under its kind, once. */
export function registerLearner(entry: LearnerEntry): void {
  if (reserved.has(entry.kind) || entries.has(entry.kind))
    throw new CodedError(
      failure("rl.duplicate-learner", `there is a learner '${entry.kind}' already; give the new one another name`),
    );
  entries.set(entry.kind, entry);
}

export function registeredLearner(kind: string): LearnerEntry | undefined {
  return entries.get(kind);
}

/** The kinds that were added, in alphabetical order. */
export function learnerKinds(): readonly string[] {
  return [...entries.keys()].sort();
}
