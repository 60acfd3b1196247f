/**
 * A workload that nobody has seen: from its first trajectories to a policy of its own.
 * It starts with the shared policy under the neutral embedding; its trajectories give it an embedding, which is refreshed
 * as better ones arrive; from its own steps the policy is fine-tuned under that. The encoder stays as it is.
 * Owns: what is kept of the workload, its embedding and kin, fine-tuning.
 * Not here: who may act and when (control/lifecycle), where episodes come from.
 */

import type { Result } from "../../base/index.ts";
import { CodedError, ok, seededRng } from "../../base/index.ts";
import type { ActOptions, Decision } from "../rl/index.ts";
import { actionSize, Ddpg } from "../rl/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { Embedding } from "./fingerprint.ts";
import { Fingerprint } from "./fingerprint.ts";
import type { Kinship } from "./kinship.ts";
import { KinshipMap } from "./kinship.ts";
import { MetaLearner } from "./meta-learner.ts";
import type { PretrainedModel } from "./pretrained.ts";
import type { Episode } from "./pretraining/episode.ts";
import { trajectoryOf } from "./pretraining/episode.ts";
import { Experience } from "./pretraining/experience.ts";

export interface AdaptationOptions {
  readonly kernels: Kernels;
  readonly model: PretrainedModel;
  readonly seed: number;
  /** Trajectories that an embedding needs; with fewer it is neutral. Default 3. */
  readonly least?: number;
  /** Steps of the workload that are kept to learn from. Default 10,000. */
  readonly replaySteps?: number;
}

export interface Familiarity {
  readonly embedding: Embedding;
  /** Undefined while the embedding is neutral: there is nothing to compare yet. */
  readonly kinship: Kinship | undefined;
}

const LEAST = 3;
const REPLAY_STEPS = 10_000;

export class Adaptation {
  readonly #model: PretrainedModel;
  readonly #meta: MetaLearner;
  readonly #policy: Ddpg;
  readonly #fingerprint: Fingerprint;
  readonly #experience: Experience;
  readonly #kin: KinshipMap;
  readonly #seed: number;
  #rounds = 0;

  /** Throws a coded failure where the model's parts do not fit one another: the fallback stays in charge. */
  constructor({ kernels, model, seed, least = LEAST, replaySteps = REPLAY_STEPS }: AdaptationOptions) {
    const { meta, learner, shape, bundle } = model;
    this.#model = model;
    this.#seed = seed;
    // One trajectory at a time is what arrives.
    this.#meta = new MetaLearner({ kernels, config: { ...meta, rows: 1 }, seed, trainable: false });
    this.#policy = new Ddpg({ kernels, shape, config: learner, seed });
    for (const loaded of [this.#meta.load(model.encoder), this.#policy.load(model.policy)]) {
      if (loaded.ok) continue;
      this.dispose();
      throw new CodedError(loaded.failure);
    }
    this.#fingerprint = new Fingerprint(this.#meta, { size: bundle, least });
    const { layout, embedding } = meta;
    const action = actionSize(shape.action);
    // Everything that is encoded is in the fingerprint; here only the steps count.
    const sizes = { obs: shape.obs, action, replaySteps, bundle: 1, arrivals: 1, embedding, layout };
    this.#experience = new Experience(sizes);
    this.#kin = new KinshipMap(model.pool);
  }

  /** The policy under the workload's embedding of now. */
  act(obs: ArrayLike<number>, options: Omit<ActOptions, "actorContext">): Result<Decision> {
    return this.#policy.act(obs, { ...options, actorContext: this.#fingerprint.embedding().vector });
  }

  /** Takes in an episode, whoever acted in it. One that can not be read changes nothing. */
  insert(episode: Episode): Result<void> {
    const inserted = this.#fingerprint.insert(trajectoryOf(episode, this.#model.meta.layout));
    if (!inserted.ok) return inserted;
    this.#experience.insert(episode);
    return ok(undefined);
  }

  familiarity(): Familiarity {
    const embedding = this.#fingerprint.embedding();
    return { embedding, kinship: embedding.kind === "known" ? this.#kin.of(embedding.vector) : undefined };
  }

  /**
   * Gradient steps from the shared policy on, on the workload's own steps under its embedding of now. Strangers need more
   * of them; that is the caller's to decide, by `familiarity`.
   */
  fineTune(steps: number): void {
    if (this.#experience.replay.size === 0) return;
    const rng = seededRng(this.#seed).fork("adaptation").fork(this.#rounds);
    this.#rounds += 1;
    const { replay, rewardMean } = this.#experience;
    const context = this.#fingerprint.embedding().vector;
    for (let step = 0; step < steps; step++) {
      const rows = this.#experience.draw(rng, this.#model.learner.batch);
      this.#policy.learnFrom([{ replay, rows, context, rewardShift: rewardMean }]);
    }
  }

  /** The policy as it is now, for a learner of the same config: its actor context is the embedding. */
  policy(): Uint8Array {
    return this.#policy.save();
  }

  dispose(): void {
    this.#meta.dispose();
    this.#policy.dispose();
  }
}
