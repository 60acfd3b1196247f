/**
 * A round of training beside the loop: what `Agent.train` does in place, for a thread that has only plain data.
 * Owns: the work as data, doing it, and its outcome as data. Not here: threads (adapters/runtime), when a round is due
 * and whether its outcome is still wanted (control/loop).
 *
 * The work is an agent's whole save: the policy's bytes say which learner they are of, so the thread needs no settings.
 */
import type { Result } from "../../base/index.ts";
import { err, failure, failureOf, unwrap } from "../../base/index.ts";
import { openLearner } from "../../learn/rl/index.ts";
import type { JobKinds, TaskContext } from "../../learn/tensor/index.ts";
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

export function trainBeside(
  { saved, workload, fallback, updates, estimate: due }: TrainingWork,
  { kernels, isCancelled }: Pick<TaskContext, "kernels" | "isCancelled">,
): TrainingOutcome {
  const { learner: bytes, log } = unwrap(decodeAgent(saved, { workload, fallback }));
  const learner = unwrap(openLearner(bytes, kernels));
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

/** For the entry file of a thread, and for trainers that train in place. */
export function agentTrainingKinds(): JobKinds {
  return {
    tasks: { [AGENT_TRAINING_TASK]: (work, context) => trainBeside(work as TrainingWork, context) },
    models: {},
  };
}
