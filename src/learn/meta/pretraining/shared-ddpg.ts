/** DDPG, shared by environments, as the meta learner sees a base learner. */

import type { ContextWeights, Ddpg, EnvironmentRows } from "../../rl/index.ts";
import type { Conditioned, ContextLoss, ContextualLearner } from "../contextual-learner.ts";

/** Rows of one environment's replay, as many as make a batch of the learner, or several such batches. */
export type RowBatch = Pick<EnvironmentRows, "replay" | "rows" | "rewardShift" | "guide">;

export function sharedDdpg(ddpg: Ddpg, weights: ContextWeights): ContextualLearner<RowBatch> {
  const size = ddpg.config.batch;
  return {
    contextSize: ddpg.shape.actorContext,
    contextLosses: (environments) => environments.map((one) => lossOf(ddpg, one, weights)),
    learn(environments) {
      const share = Math.floor(size / environments.length);
      ddpg.learnFrom(
        environments.map(({ batch, context }, i) => {
          // The first one takes what does not divide.
          const count = i === 0 ? size - share * (environments.length - 1) : share;
          return { ...batch, context, rows: batch.rows.subarray(0, count) };
        }),
      );
    },
  };

  function lossOf(learner: Ddpg, { batch, context }: Conditioned<RowBatch>, by: ContextWeights): ContextLoss {
    const gradient = new Float32Array(context.length);
    const batches = Math.max(1, Math.floor(batch.rows.length / size));
    let loss = 0;
    for (let i = 0; i < batches; i++) {
      const rows = batch.rows.subarray(i * size, (i + 1) * size);
      const [found] = learner.contextGradients([{ ...batch, context, rows }], by);
      if (!found) continue;
      loss += (by.critic * found.criticLoss + by.actor * found.actorLoss) / batches;
      for (let k = 0; k < gradient.length; k++) gradient[k]! += found.gradient[k]! / batches;
    }
    return { loss, gradient };
  }
}
