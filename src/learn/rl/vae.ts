/**
 * A conditional variational auto-encoder of actions: which actions were seen in a state (arXiv:1312.6114; as BCQ uses
 * it, arXiv:1812.02900). The encoder turns (state, action) into a normal in a latent space, the decoder turns
 * (state, latent) into an action in [−1, 1].
 * Owns: the two networks, their loss and its gradient, and decoding of many rows.
 * Not here: what a state is made of and where samples are used (bcq.ts).
 *
 * Nothing is allocated after construction.
 */

import type { Rng } from "../../base/index.ts";
import { CodedError } from "../../base/index.ts";
import type { Kernels, Network, Optimiser, Ptr } from "../tensor/index.ts";
import { adam, buildNetwork, mseLoss, PARAMS_AND_INPUT, PARAMS_ONLY } from "../tensor/index.ts";
import { divergence } from "./learner.ts";
import { reluMlp } from "./networks.ts";
import type { StatePart } from "./saved-state.ts";
import { networkPart, optimiserPart } from "./saved-state.ts";

/** Bounds of log σ: below, the normal is a point and its gradient is noise; above, σ² overflows in float32 (BCQ's bounds). */
const LOG_STD = { least: -4, most: 15 } as const;

export interface VaeOptions {
  /** Width of the state, which encoder and decoder both see. */
  readonly state: number;
  readonly actions: number;
  readonly latent: number;
  readonly hidden: readonly number[];
  /** Rows per training step. */
  readonly batch: number;
  /** The most rows that are decoded at once. */
  readonly samples: number;
  readonly lr: number;
  /** How much the divergence from the standard normal counts against the squared error. */
  readonly klWeight: number;
  readonly rng: Rng;
}

/** KL(N(μ, σ²) ‖ N(0, 1)) of one component. */
export function klToStandardNormal(mean: number, logStd: number): number {
  return -0.5 * (1 + 2 * logStd - mean * mean - Math.exp(2 * logStd));
}

/** One component of a latent, as it is sampled: a standard normal within ±clip, so that only actions near the seen ones come out. */
export function clippedLatent(draw: number, clip: number): number {
  return Math.min(Math.max(draw, -clip), clip);
}

export class ActionVae {
  readonly #kernels: Kernels;
  readonly #options: VaeOptions;
  readonly #encoder: Network;
  readonly #decoder: Network;
  /** The decoder's parameters with room for more rows and no gradients. */
  readonly #sampler: Network;
  readonly #encoderOptimiser: Optimiser;
  readonly #decoderOptimiser: Optimiser;
  /** [batch, actions], [batch, actions], [batch, 2·latent], [batch, latent]. */
  readonly #wanted: Ptr;
  readonly #dAction: Ptr;
  readonly #dCode: Ptr;
  readonly #draws: Ptr;

  constructor(kernels: Kernels, options: VaeOptions) {
    const { state, actions, latent, hidden, batch, samples, lr, rng } = options;
    this.#kernels = kernels;
    this.#options = options;
    const encode = reluMlp({ inputs: state + actions, hidden, outputs: 2 * latent }, "none");
    const decode = reluMlp({ inputs: state + latent, hidden, outputs: actions }, "tanh");
    this.#encoder = buildNetwork(kernels, { layers: encode, batch, rng: rng.fork("encoder") });
    this.#decoder = buildNetwork(kernels, { layers: decode, batch, rng: rng.fork("decoder") });
    this.#sampler = buildNetwork(kernels, {
      layers: decode,
      batch: samples,
      rng,
      trainable: false,
      share: this.#decoder,
    });
    const optimised = ({ params, paramCount }: Network) => adam(kernels, { params, count: paramCount, lr });
    this.#encoderOptimiser = optimised(this.#encoder);
    this.#decoderOptimiser = optimised(this.#decoder);
    const { memory } = kernels;
    this.#wanted = memory.alloc(batch * actions);
    this.#dAction = memory.alloc(batch * actions);
    this.#dCode = memory.alloc(batch * 2 * latent);
    this.#draws = memory.alloc(batch * latent);
  }

  // ── Decoding ─────────────────────────────────────────────────────────────────────────────────────────

  /** [samples, state + latent], for the caller to fill: states first. */
  get sampleInput(): Ptr {
    return this.#sampler.input;
  }

  /** Actions [rows, actions] of the states and latents in `sampleInput`. */
  decode(rows: number): Ptr {
    return this.#sampler.forward(rows);
  }

  // ── Training ─────────────────────────────────────────────────────────────────────────────────────────

  /** [batch, state + actions], for the caller to fill before `train`: states first, then the actions seen. */
  get trainInput(): Ptr {
    return this.#encoder.input;
  }

  /** One step on the rows in `trainInput`; returns the loss before it. */
  train(rng: Rng): number {
    const loss = this.#forward(rng);
    // Before anything moves: a divergence must leave both networks as they were.
    if (!Number.isFinite(loss)) throw new CodedError(divergence("loss of the generative model", loss));
    this.#backward();
    this.#encoderOptimiser.step(this.#encoder.grads);
    this.#decoderOptimiser.step(this.#decoder.grads);
    return loss;
  }

  /** Mean squared error of the decoded actions + klWeight · mean KL; leaves the gradient of the decoded actions. */
  #forward(rng: Rng): number {
    const { batch, state, actions, latent, klWeight } = this.#options;
    const { memory } = this.#kernels;
    const f32 = memory.f32;
    const seen = this.#encoder.input >> 2;
    const code = this.#encoder.forward(batch) >> 2;
    const draws = this.#draws >> 2;
    const wanted = this.#wanted >> 2;
    const into = this.#decoder.input >> 2;
    let divergenceSum = 0;
    for (let i = 0; i < batch; i++) {
      const from = seen + i * (state + actions);
      const to = into + i * (state + latent);
      for (let k = 0; k < state; k++) f32[to + k] = f32[from + k]!;
      for (let k = 0; k < actions; k++) f32[wanted + i * actions + k] = f32[from + state + k]!;
      for (let k = 0; k < latent; k++) {
        const mean = f32[code + i * 2 * latent + k]!;
        const logStd = boundedLogStd(f32[code + i * 2 * latent + latent + k]!);
        const draw = rng.normal();
        f32[draws + i * latent + k] = draw;
        f32[to + state + k] = mean + Math.exp(logStd) * draw;
        divergenceSum += klToStandardNormal(mean, logStd);
      }
    }
    const prediction = this.#decoder.forward(batch);
    const blocks = { prediction, target: this.#wanted, gradient: this.#dAction };
    return mseLoss(memory, { ...blocks, rows: batch, cols: actions }) + (klWeight * divergenceSum) / (batch * latent);
  }

  #backward(): void {
    const { batch, state, latent, klWeight } = this.#options;
    const f32 = this.#kernels.memory.f32;
    this.#decoder.zeroGrads();
    const dInput = this.#decoder.backward(batch, this.#dAction, PARAMS_AND_INPUT) >> 2;
    const code = this.#encoder.output >> 2;
    const dCode = this.#dCode >> 2;
    const share = klWeight / (batch * latent);
    for (let i = 0; i < batch; i++) {
      for (let k = 0; k < latent; k++) {
        const at = i * 2 * latent + k;
        const dLatent = f32[dInput + i * (state + latent) + state + k]!;
        const raw = f32[code + at + latent]!;
        const std = Math.exp(boundedLogStd(raw));
        const draw = f32[(this.#draws >> 2) + i * latent + k]!;
        f32[dCode + at] = dLatent + share * f32[code + at]!;
        const isBounded = raw < LOG_STD.least || raw > LOG_STD.most;
        f32[dCode + at + latent] = isBounded ? 0 : dLatent * std * draw + share * (std * std - 1);
      }
    }
    this.#encoder.zeroGrads();
    this.#encoder.backward(batch, this.#dCode, PARAMS_ONLY);
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  parts(): StatePart[] {
    return [
      networkPart("vae encoder", this.#encoder),
      networkPart("vae decoder", this.#decoder),
      optimiserPart("vae encoder optimiser", this.#encoderOptimiser),
      optimiserPart("vae decoder optimiser", this.#decoderOptimiser),
    ];
  }

  dispose(): void {
    for (const network of [this.#sampler, this.#encoder, this.#decoder]) network.dispose();
    for (const optimiser of [this.#encoderOptimiser, this.#decoderOptimiser]) optimiser.dispose();
    for (const block of [this.#wanted, this.#dAction, this.#dCode, this.#draws]) this.#kernels.memory.free(block);
  }
}

function boundedLogStd(raw: number): number {
  return Math.min(Math.max(raw, LOG_STD.least), LOG_STD.most);
}
