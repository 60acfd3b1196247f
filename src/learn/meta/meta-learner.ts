/**
 * The meta learner: trajectories or samples of an environment in, an embedding of the environment out.
 * Owns: the config, the joint training step, the scale of the features, checkpoints.
 * Not here: the networks' passes (encoder.ts), an environment's own trajectories (fingerprint.ts), the base learner.
 *
 * It knows no task and no loss. Whoever conditions a network on an embedding hands back the gradient of its loss with
 * respect to that embedding; gradients of any number of environments add up, and one step follows (AWARE, section 3.2:
 * the base learner learns from each environment's loss, the meta learner from the total).
 *
 *   const embeddings = meta.forward(bundles);      // one per environment
 *   meta.backward(embeddings.map(lossGradient));   // from the base learner, for each
 *   meta.step();                                   // once per round, after all environments
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok, seededRng } from "../../base/index.ts";
import type { Normaliser, SaveOptions } from "../rl/index.ts";
import { createNormaliser } from "../rl/index.ts";
import type { Kernels, Optimiser } from "../tensor/index.ts";
import { adam, clipGradNorms } from "../tensor/index.ts";
import type { EncoderShape } from "./encoder.ts";
import { Encoder, passError } from "./encoder.ts";
import { assertLayout, layoutWidth } from "./features.ts";
import type { Embedder } from "./fingerprint.ts";
import { readSaved, restoreSaved, writeSaved } from "./saved-meta.ts";
import type { Trajectory } from "./trajectory.ts";

export interface MetaConfig extends EncoderShape {
  /** The longest trajectory. */
  readonly steps: number;
  /** Trajectories per pass: room for one bundle or for several. Memory and speed, not results, depend on it. */
  readonly rows: number;
  readonly lr: number;
  /** Longest gradient of one step, over all parameters; 0 for no limit. */
  readonly maxGradNorm: number;
}

/** AWARE's sizes (section 4.3) with FLASH's learning rate (table A.1); AWARE's is not published. */
export const metaDefaults: Omit<MetaConfig, "layout"> = {
  hidden: 256,
  layers: 2,
  dense: [256],
  embedding: 64,
  steps: 100,
  rows: 20,
  lr: 3e-4,
  maxGradNorm: 1,
};

export interface MetaLearnerOptions {
  readonly kernels: Kernels;
  readonly config: MetaConfig;
  readonly seed: number;
  /** False: no gradients and less memory, for adaptation, where the meta learner is frozen. Default true. */
  readonly trainable?: boolean;
}

export interface MetaStep {
  /** Environments whose gradients were added up. */
  readonly environments: number;
  /** Length of the gradient before it was cut to `maxGradNorm`. */
  readonly gradNorm: number;
}

export class MetaLearner implements Embedder {
  readonly config: MetaConfig;
  readonly #kernels: Kernels;
  readonly #encoder: Encoder;
  readonly #scale: Normaliser;
  /** Of the recurrent network, then of the dense one; none when frozen. */
  readonly #optimisers: readonly Optimiser[];
  #environments = 0;
  #steps = 0;
  #version = 0;

  constructor({ kernels, config, seed, trainable = true }: MetaLearnerOptions) {
    assertLayout(config.layout);
    this.config = config;
    this.#kernels = kernels;
    this.#scale = createNormaliser({ size: layoutWidth(config.layout) });
    const { steps, rows } = config;
    const rng = seededRng(seed).fork("meta");
    this.#encoder = new Encoder(kernels, { shape: config, steps, rows, trainable, scale: this.#scale, rng });
    this.#optimisers = trainable
      ? this.#networks.map(({ params, paramCount }) => adam(kernels, { params, count: paramCount, lr: config.lr }))
      : [];
  }

  get embeddingSize(): number {
    return this.config.embedding;
  }

  /** Optimiser steps since the beginning, also across resumable checkpoints. */
  get steps(): number {
    return this.#steps;
  }

  /** Changes with the parameters and with the scale: summaries of another version are stale. */
  get version(): number {
    return this.#version;
  }

  // ── Embeddings ───────────────────────────────────────────────────────────────────────────────────────

  check(trajectory: Trajectory): Result<void> {
    return this.#encoder.check(trajectory);
  }

  summarise(trajectories: readonly Trajectory[]): readonly Float32Array[] {
    return this.#encoder.summarise(trajectories);
  }

  embed(summaries: readonly Float32Array[]): Float32Array {
    return this.#encoder.embed(summaries);
  }

  // ── Joint training ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Folds trajectories into each column's mean and spread, by which rows are scaled from then on. To be done before
   * training, with trajectories of many environments: a scale that moved on would move every embedding with it.
   */
  learnScale(trajectories: readonly Trajectory[]): void {
    if (this.#steps > 0) {
      throw passError("the scale of the features was to change after training began; learn it before the first step");
    }
    for (const { values, steps } of trajectories) this.#scale.update(values, steps);
    this.#version += 1;
  }

  /** One embedding per environment, from its bundle (at most `rows` trajectories in all). */
  forward(bundles: readonly (readonly Trajectory[])[]): readonly Float32Array[] {
    return this.#encoder.forward(bundles);
  }

  /** The loss's gradient for each embedding of the last `forward`. */
  backward(gradients: readonly ArrayLike<number>[]): void {
    this.#encoder.backward(gradients);
    this.#environments += gradients.length;
  }

  /** Moves the parameters by all that was added up since the last step. After a failure they are as they were. */
  step(): Result<MetaStep> {
    if (this.#environments === 0) throw passError("there are no gradients to step by; call forward and backward first");
    const { maxGradNorm } = this.config;
    const blocks = this.#networks.map(({ grads, paramCount }) => ({ grads, count: paramCount }));
    const gradNorm = clipGradNorms(this.#kernels, blocks, maxGradNorm > 0 ? maxGradNorm : Number.POSITIVE_INFINITY);
    const environments = this.#environments;
    if (!Number.isFinite(gradNorm)) {
      this.#zeroGrads();
      return err(
        failure(
          "meta.diverged",
          `the gradient over ${environments} environments has the length ${gradNorm} and the step was not taken; lower the learning rates or scale the rewards, and go on from the last good checkpoint`,
        ),
      );
    }
    for (const [i, { grads }] of this.#networks.entries()) this.#optimisers[i]!.step(grads);
    this.#zeroGrads();
    this.#steps += 1;
    this.#version += 1;
    return ok({ environments, gradNorm });
  }

  // ── Several threads ──────────────────────────────────────────────────────────────────────────────────

  /** Copies of all parameters, and of the gradients added up so far, which are then zero: how shards exchange both. */
  parameters(): Float32Array {
    return joined(this.#networks.map((network) => network.snapshot()));
  }

  setParameters(values: Float32Array): void {
    this.#assertCount(values.length);
    const [recurrent, dense] = this.#networks;
    const before = recurrent.snapshot();
    recurrent.load(values.subarray(0, recurrent.paramCount));
    try {
      dense.load(values.subarray(recurrent.paramCount));
    } catch (thrown) {
      recurrent.load(before);
      throw thrown;
    }
    this.#version += 1;
  }

  takeGradients(): { readonly values: Float32Array; readonly environments: number } {
    const { memory } = this.#kernels;
    const taken = {
      values: joined(this.#networks.map(({ grads, paramCount }) => memory.view(grads, paramCount))),
      environments: this.#environments,
    };
    this.#zeroGrads();
    return taken;
  }

  addGradients({ values, environments }: { readonly values: Float32Array; readonly environments: number }): void {
    this.#assertCount(values.length);
    const { f32 } = this.#kernels.memory;
    let from = 0;
    for (const { grads, paramCount } of this.#networks) {
      const at = grads >> 2;
      for (let i = 0; i < paramCount; i++) f32[at + i]! += values[from + i]!;
      from += paramCount;
    }
    this.#environments += environments;
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  /** `resumable` adds the optimisers, three times the size: what it takes to continue training exactly. */
  save({ resumable = false }: SaveOptions = {}): Uint8Array {
    const [recurrent, dense] = this.#networks;
    return writeSaved({
      config: this.config,
      networks: { recurrent, dense },
      scale: this.#scale.state(),
      steps: this.#steps,
      optimisers: resumable ? this.#optimisers.map((optimiser) => optimiser.state()) : [],
    });
  }

  /** All or nothing: after a failure the learner is as it was. */
  load(bytes: Uint8Array): Result<void> {
    const read = readSaved(bytes, this.config);
    if (!read.ok) return read;
    const [recurrent, dense] = this.#networks;
    const restored = restoreSaved(read.value, { networks: { recurrent, dense }, optimisers: this.#optimisers });
    if (!restored.ok) return restored;
    this.#scale.restore(read.value.scale);
    this.#steps = read.value.steps;
    this.#version += 1;
    return ok(undefined);
  }

  dispose(): void {
    this.#encoder.dispose();
    for (const optimiser of this.#optimisers) optimiser.dispose();
  }

  get #networks() {
    return [this.#encoder.recurrent, this.#encoder.dense] as const;
  }

  #zeroGrads(): void {
    for (const network of this.#networks) network.zeroGrads();
    this.#environments = 0;
  }

  #assertCount(found: number): void {
    const wanted = this.#networks.reduce((sum, { paramCount }) => sum + paramCount, 0);
    if (found !== wanted)
      throw passError(`${found} values were given for ${wanted} parameters; use one config on all threads`);
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
