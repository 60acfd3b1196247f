/**
 * A round of training beside the loop: what `Agent.train` does in place, for a thread that has only plain data.
 * Owns: the work as data, doing it, and its outcome as data. Not here: threads (adapters/runtime), when a round is due
 * and whether its outcome is still wanted (control/loop).
 *
 * The work is an agent's whole save: the policy's bytes say which learner they are of, so the thread needs no settings.
 * A policy of a shared model needs that model too, whose encoder reads the workload's trajectories here, beside the loop.
 */
import type { Result } from "../../base/index.ts";
import { err, failure, failureOf, unwrap } from "../../base/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import { openAdapted, openSharedModel } from "../../learn/meta/index.ts";
import { openLearner } from "../../learn/rl/index.ts";
import type { JobKinds, Kernels, TaskContext } from "../../learn/tensor/index.ts";
import { decodeAgent } from "./agent-saved.ts";
import type { EstimatorOptions } from "./estimator.ts";
import { offPolicyEstimator } from "./estimator.ts";
import type { OffPolicyScore } from "./state.ts";

export const AGENT_TRAINING_TASK = "agent training";

export interface TrainingWork {
  /** `Agent.save({ resumable: true })`: without the replay there would be nothing to learn from. */
  readonly saved: Uint8Array;
  readonly workload: string;
  readonly fallback: string;
  readonly updates: number;
  /** The model that its policy began from, in memory that threads share; null where it began from nothing. */
  readonly sharedModel: Pick<SharedModel, "identity" | "bytes"> | null;
  /** How the trained policy is to be judged; null when no estimate is due. */
  readonly estimate: EstimatorOptions | null;
}

export interface TrainingOutcome {
  /** The policy without its replay: the agent's own has gone on meanwhile. */
  readonly policy: Uint8Array;
  readonly updates: number;
  /** Of this very policy; null when none was due. */
  readonly estimate: Result<OffPolicyScore> | null;
}

export interface TrainingPlace extends Pick<TaskContext, "kernels" | "isCancelled"> {
  /** The opened model of these bytes, from the round before if it was the same. */
  readonly models?: ModelShelf;
}

export function trainBeside(work: TrainingWork, { kernels, isCancelled, models }: TrainingPlace): TrainingOutcome {
  const { saved, workload, fallback, updates, sharedModel, estimate: due } = work;
  const { learner: bytes, log } = unwrap(decodeAgent(saved, { workload, fallback }));
  const shelf = models ?? new ModelShelf();
  const learner = unwrap(
    sharedModel === null
      ? openLearner(bytes, kernels)
      : openAdapted(bytes, { kernels, shared: shelf.open(sharedModel, kernels) }),
  );
  try {
    let done = 0;
    // Undefined: there is not enough to learn from yet.
    while (done < updates && !isCancelled() && learner.update() !== undefined) done += 1;
    const estimate = due && !isCancelled() ? attempt(() => offPolicyEstimator(due)(learner, log.kept)) : null;
    return { policy: learner.save(), updates: done, estimate };
  } finally {
    learner.dispose();
  }
}

/** An estimate that fails must not cost the training that went before it. */
function attempt(estimate: () => Result<OffPolicyScore>): Result<OffPolicyScore> {
  try {
    return estimate();
  } catch (cause) {
    return err(
      failureOf(cause) ?? failure("agent.estimate", "the estimate of a policy threw; see the cause", { cause }),
    );
  }
}

/** A thread's shared model: opened once, however many agents began from it. */
export class ModelShelf {
  #kept: SharedModel | undefined;

  open({ identity, bytes }: Pick<SharedModel, "identity" | "bytes">, kernels: Kernels): SharedModel {
    if (this.#kept?.identity === identity) return this.#kept;
    const opened = unwrap(openSharedModel(bytes, kernels));
    this.#kept?.dispose();
    this.#kept = opened;
    return opened;
  }
}

/** For the entry file of a thread, and for trainers that train in place. */
export function agentTrainingKinds(): JobKinds {
  const models = new ModelShelf();
  return {
    tasks: { [AGENT_TRAINING_TASK]: (work, context) => trainBeside(work as TrainingWork, { ...context, models }) },
    models: {},
  };
}
