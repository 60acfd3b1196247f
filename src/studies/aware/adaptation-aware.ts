/**
 * AWARE on a workload that was never seen: the shared policy under its embedding, fine-tuned online.
 * Owns: the method, and what its learning costs. Not here: pre-training (learn/meta), the other methods
 * (adaptation-methods.ts), where a model comes from (whoever makes the study).
 */
import { unwrap } from "../../base/index.ts";
import type { PretrainedModel } from "../../learn/meta/index.ts";
import { layoutWidth } from "../../learn/meta/index.ts";
import { type AdaptationMethod, type Ground, practised, still, updateWork } from "./adaptation-methods.ts";
import { EmbeddedLearner, fixedLearner } from "./embedded-learner.ts";
import { everLearning, type Form, learningDriver, published } from "./methods.ts";

export interface AwareMethodOptions {
  /** Trained on the known applications of the ground's pool, and on nothing else. */
  model(ground: Ground): PretrainedModel | Promise<PretrainedModel>;
  /** Actions as in pre-training; without a shield, as the methods it is compared with, where nothing is said. */
  readonly form?: Form;
}

export function awareWithEmbedding({
  model: modelFor,
  form = published,
}: AwareMethodOptions): AdaptationMethod & { readonly id: "aware" } {
  return {
    id: "aware",
    title: "AWARE",
    isPrepared: true,
    trainsOnSource: false,
    async prepare(ground) {
      const model = await modelFor(ground);
      return {
        work: {
          perUpdate: updateWork(model, "extended", model.meta.embedding),
          perEpisode: encodingWork(model, ground.source.setting.task.episodeSteps),
        },
        driver: (parts, { learns, policy }) =>
          learningDriver(everLearning(form), {
            ...parts,
            agent: learns ? practised(parts.agent) : still(parts.agent),
            createLearner(attempt) {
              const options = { kernels: parts.kernels, model, seed: parts.seed + attempt };
              return policy ? unwrap(fixedLearner(options, policy)) : new EmbeddedLearner(options);
            },
          }),
      };
    },
  };
}

/** One trajectory read: three gates of each direction in each layer, at every step. The dense layers are nothing beside. */
export function encodingWork({ meta }: Pick<PretrainedModel, "meta">, steps: number): number {
  const { hidden, layers, layout } = meta;
  const seen = layoutWidth(layout);
  const gates = (inputs: number) => 2 * 3 * hidden * (inputs + hidden);
  return steps * (gates(seen) + (layers - 1) * gates(2 * hidden));
}
