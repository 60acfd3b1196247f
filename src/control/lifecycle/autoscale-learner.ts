/**
 * The learner of an autoscaling agent: BCQ while it learns from the fallback, TD3 when it has been let go; or a policy
 * that was trained on other workloads, under this one's embedding.
 * Owns: its shape for a task, and the paper's hyperparameters. Not here: the algorithm (learn/rl).
 */
import type { SharedModel } from "../../learn/meta/index.ts";
import { ADAPTED_REPLAY_STEPS, AdaptedLearner } from "../../learn/meta/index.ts";
import type { BcqConfig, Learner } from "../../learn/rl/index.ts";
import { Bcq, bcqDefaults } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { AutoscaleTask } from "../tasks/index.ts";
import { actionOrder, observationSpace } from "../tasks/index.ts";

/**
 * Table 2 of AWARE where it says something; its replay of 10⁶ is 50,000 here, the rest stays in the trajectory store.
 * Exploration noise is the agent's (agent-options.ts), since the shield has to hold it.
 */
export const autoscaleBcq: BcqConfig = Object.freeze<BcqConfig>({
  ...bcqDefaults,
  actorLr: 3e-4,
  criticLr: 3e-3,
  gamma: 0.99,
  tau: 3e-3,
  batch: 64,
  bufferSize: 50_000,
  noise: { kind: "none" },
  // Episodes only ever truncate: the workload goes on.
  centreRewards: true,
});

/** Steps that a learner keeps, by whether it began from a shared model. */
export const replayStepsOf = ({ isShared }: { readonly isShared: boolean }): number =>
  isShared ? ADAPTED_REPLAY_STEPS : autoscaleBcq.bufferSize;

export interface AutoscaleLearnerOptions {
  readonly kernels: Kernels;
  readonly task: Pick<AutoscaleTask, "features">;
  readonly seed: number;
  readonly config?: Partial<BcqConfig>;
  /** Begins with its policy instead, which is fine-tuned; to be asked for by `modelForTask` first. */
  readonly shared?: SharedModel;
}

export function autoscaleLearner({ kernels, task, seed, config, shared }: AutoscaleLearnerOptions): Learner {
  if (shared) return new AdaptedLearner({ kernels, shared, seed });
  const low = actionOrder.map(() => -1);
  const high = actionOrder.map(() => 1);
  const shape = {
    obs: observationSpace(task).size,
    action: { kind: "continuous" as const, low, high },
    actorContext: 0,
    criticContext: 0,
  };
  return new Bcq({ kernels, shape, config: { ...autoscaleBcq, ...config }, seed });
}
