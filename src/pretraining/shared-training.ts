/**
 * A pre-training that a study, or a person, asks for: everything that shapes the model which comes of it.
 * Owns: those settings, and the quick form of them. Not here: running one (cli/pretraining), what it does (learn/meta).
 */
import type { ActionKind } from "../control/tasks/pods/index.ts";
import type { PretrainConfig } from "../learn/meta/index.ts";
import { pretrainDefaults } from "../learn/meta/index.ts";
import type { PoolKind } from "./pools.ts";

export interface SharedTraining {
  readonly applications: number;
  readonly seed: number;
  /** What an action's numbers mean: the product's multiples of what is needed, or the paper's limits. */
  readonly actions: ActionKind;
  /** Which applications are kept from it. */
  readonly pool: PoolKind;
  readonly config: PretrainConfig;
}

/**
 * With a guide (guide.ts): the encoder learns what the policy needs to be told, and the policy to do with it what the guide
 * does. A narrow network and many visits, with fewer steps of the base learner in each: what has to be learned is to read.
 * Critics' errors teach an encoder nothing that helps here, and would drown the rest.
 */
export const guidedPretraining: PretrainConfig = {
  ...pretrainDefaults,
  meta: { ...pretrainDefaults.meta, hidden: 64, dense: [64], embedding: 32, lr: 1e-3 },
  visits: 40,
  weights: { actor: 1, critic: 0 },
  traits: { weight: 1, lr: 3e-3 },
  guide: { weight: 1 },
  learnSteps: 96,
  settleSteps: 3_000,
};

/** A network and a pool that are enough to see it learn. */
export const quickPretraining: PretrainConfig = {
  ...pretrainDefaults,
  meta: { ...pretrainDefaults.meta, hidden: 32, dense: [32], embedding: 16, lr: 1e-3 },
  bundle: 10,
  environmentsPerRound: 4,
  visits: 8,
  episodesPerVisit: 1,
  lossBatches: 2,
  learnSteps: 64,
  settleSteps: 500,
};
