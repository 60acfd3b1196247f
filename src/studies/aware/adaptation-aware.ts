/**
 * AWARE on a workload that was never seen: the shared policy under its embedding, fine-tuned online.
 * Owns: the method, and what its learning costs. Not here: pre-training (learn/meta), the other methods
 * (adaptation-methods.ts), where a model comes from (whoever makes the study).
 */
import { unwrap } from "../../base/index.ts";
import type { PretrainedModel } from "../../learn/meta/index.ts";
import { AdaptedLearner, fineTuning, layoutWidth, openSharedModel } from "../../learn/meta/index.ts";
import { type AdaptationMethod, type Ground, practised, still, updateWork } from "./adaptation-methods.ts";
import { everLearning, type Form, learningDriver, published } from "./methods.ts";

export interface AwareMethodOptions {
  /** The bytes of one that was trained on the known applications of the ground's pool, and on nothing else. */
  model(ground: Ground): Uint8Array;
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
    prepare(ground) {
      const shared = unwrap(openSharedModel(modelFor(ground), ground.source.kernels));
      const { model } = shared;
      const learner = fineTuning(model);
      return {
        work: {
          perUpdate: updateWork({ learner }, "extended", model.meta.embedding),
          perEpisode: encodingWork(model, ground.source.setting.task.episodeSteps),
        },
        driver: (parts, { learns, policy }) =>
          learningDriver(everLearning(form), {
            ...parts,
            agent: learns ? practised(parts.agent) : still(parts.agent),
            createLearner(attempt) {
              const learner = new AdaptedLearner({ kernels: parts.kernels, shared, seed: parts.seed + attempt });
              // With the embedding that it was saved with, which stays where nothing is learned.
              if (policy) unwrap(learner.load(policy));
              return learner;
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
