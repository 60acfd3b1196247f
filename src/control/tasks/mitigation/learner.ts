/**
 * The learner of a service's agent: the DDPG of Table 3.3, with a policy to begin with where there is one.
 * Owns: making it. Not here: the algorithm (learn/rl), pre-training (pretraining/).
 */
import { unwrap } from "../../../base/index.ts";
import { Ddpg, type DdpgConfig } from "../../../learn/rl/index.ts";
import type { Kernels } from "../../../learn/tensor/index.ts";
import { firmDdpg, mitigationShape } from "./pretraining/config.ts";

export interface MitigationLearnerOptions {
  readonly kernels: Kernels;
  readonly seed: number;
  readonly config?: DdpgConfig;
  /** A checkpoint of a pre-training; nothing was learned yet where absent. */
  readonly policy?: Uint8Array | undefined;
}

/** Transitions that an agent keeps: some hours of seconds. Pre-training keeps ten times as many, of all services at once. */
const REPLAY = 10_000;

/** As an agent at work has it. */
export const servingDdpg: DdpgConfig = { ...firmDdpg, bufferSize: REPLAY };

export function mitigationLearner({ kernels, seed, config = servingDdpg, policy }: MitigationLearnerOptions): Ddpg {
  const learner = new Ddpg({ kernels, shape: mitigationShape, config, seed });
  if (policy !== undefined) unwrap(learner.load(policy));
  return learner;
}
