/**
 * What is known of an environment beyond what its trajectories show, read off its embedding.
 * Owns: traits as shares over named kinds or as numbers, the layer that reads them, its loss as one more learner under the
 * embedding.
 * Not here: which traits environments have (whoever makes them), when it is trained (pretraining/).
 *
 * A simulator knows what its environments are made of; the trajectories have to show it in the end. Teaching the encoder
 * to find there what is known makes embeddings of like environments alike, which returns alone hardly do. Nothing of it
 * is needed afterwards: an embedding is computed from trajectories, and real workloads have no traits.
 */

import { CodedError, failure, seededRng } from "../../base/index.ts";
import type { Kernels, Network, Optimiser, OptimiserState, Ptr } from "../tensor/index.ts";
import { adam, buildNetwork, dense, INPUT_ONLY, PARAMS_ONLY } from "../tensor/index.ts";
import type { Conditioned, ContextLoss, ContextualLearner } from "./contextual-learner.ts";

/** One question about an environment; its answer is a share of each kind, together 1, or where `are` says so a number of each. */
export interface TraitGroup {
  readonly name: string;
  readonly kinds: readonly string[];
  /** Numbers should have mean 0 and deviation 1 over the environments, or the large ones are all that is learned. */
  readonly are?: "shares" | "numbers";
}

/** All answers, one group after the other. */
export type Traits = Float32Array;

export interface TraitReaderOptions {
  readonly kernels: Kernels;
  readonly groups: readonly TraitGroup[];
  readonly contextSize: number;
  /** Environments at a time. */
  readonly rows: number;
  readonly lr: number;
  readonly seed: number;
}

export interface TraitReaderState {
  readonly values: Float32Array;
  readonly optimiser: OptimiserState;
}

export class TraitReader implements ContextualLearner<Traits> {
  readonly contextSize: number;
  readonly #options: TraitReaderOptions;
  readonly #network: Network;
  readonly #optimiser: Optimiser;
  /** [rows, traits]: gradients of what was read. */
  readonly #dRead: Ptr;

  constructor(options: TraitReaderOptions) {
    const { kernels, groups, contextSize, rows, lr, seed } = options;
    this.#options = options;
    this.contextSize = contextSize;
    this.#network = buildNetwork(kernels, {
      layers: [dense(contextSize, traitWidth(groups))],
      batch: rows,
      rng: seededRng(seed).fork("traits"),
    });
    const { params, paramCount } = this.#network;
    this.#optimiser = adam(kernels, { params, count: paramCount, lr });
    this.#dRead = kernels.memory.alloc(rows * this.#network.outputs);
  }

  /** Of each environment, summed over the groups: cross-entropy of shares, half the mean squared error of numbers. */
  contextLosses(environments: readonly Conditioned<Traits>[]): readonly ContextLoss[] {
    const losses = this.#read(environments);
    const { memory } = this.#options.kernels;
    const from = this.#network.backward(environments.length, this.#dRead, INPUT_ONLY) >> 2;
    return losses.map((loss, row) => {
      const at = from + row * this.contextSize;
      return { loss, gradient: memory.f32.slice(at, at + this.contextSize) };
    });
  }

  learn(environments: readonly Conditioned<Traits>[]): void {
    this.#read(environments, 1 / environments.length);
    this.#network.zeroGrads();
    this.#network.backward(environments.length, this.#dRead, PARAMS_ONLY);
    this.#optimiser.step(this.#network.grads);
  }

  parameters(): Float32Array {
    return this.#network.snapshot();
  }

  setParameters(values: Float32Array): void {
    this.#network.load(values);
  }

  state(): TraitReaderState {
    return { values: this.#network.snapshot(), optimiser: this.#optimiser.state() };
  }

  restore({ values, optimiser }: TraitReaderState): void {
    this.#network.load(values);
    this.#optimiser.restore(optimiser);
  }

  dispose(): void {
    this.#network.dispose();
    this.#optimiser.dispose();
    this.#options.kernels.memory.free(this.#dRead);
  }

  /** Reads all, leaves the gradient of each one's loss times the weight, and gives the losses. */
  #read(environments: readonly Conditioned<Traits>[], weight = 1): readonly number[] {
    const { kernels, groups } = this.#options;
    const { f32 } = kernels.memory;
    const input = this.#network.input >> 2;
    for (const [row, { context, batch }] of environments.entries()) {
      assertTraits(groups, batch);
      f32.set(context, input + row * this.contextSize);
    }
    const read = this.#network.forward(environments.length) >> 2;
    const into = this.#dRead >> 2;
    return environments.map(({ batch }, row) => {
      const start = row * this.#network.outputs;
      let loss = 0;
      let at = 0;
      for (const { kinds, are } of groups) {
        const logits = f32.subarray(read + start + at, read + start + at + kinds.length);
        const shares = batch.subarray(at, at + kinds.length);
        if (are === "numbers") {
          for (const [k, value] of shares.entries()) {
            const off = (logits[k] as number) - value;
            f32[into + start + at + k] = (weight * off) / kinds.length;
            loss += (off * off) / (2 * kinds.length);
          }
          at += kinds.length;
          continue;
        }
        const chances = softmax(logits);
        for (const [k, chance] of chances.entries()) {
          f32[into + start + at + k] = weight * (chance - shares[k]!);
          if (shares[k]! > 0) loss -= shares[k]! * Math.log(Math.max(chance, Number.MIN_VALUE));
        }
        at += kinds.length;
      }
      return loss;
    });
  }
}

export const traitWidth = (groups: readonly TraitGroup[]): number =>
  groups.reduce((sum, { kinds }) => sum + kinds.length, 0);

/** Shares are of the width that the groups say, not negative, and 1 together in each group; numbers are finite. */
export function assertTraits(groups: readonly TraitGroup[], traits: Traits): void {
  if (traits.length !== traitWidth(groups)) throw badTraits(`${traits.length} shares for ${traitWidth(groups)} kinds`);
  let at = 0;
  for (const { name, kinds, are } of groups) {
    const shares = traits.subarray(at, at + kinds.length);
    const sum = shares.reduce((total, share) => total + share, 0);
    if (are === "numbers") {
      if (!Number.isFinite(sum)) throw badTraits(`a value of ${name} that is no number`);
    } else if (!(shares.every((share) => share >= 0) && Math.abs(sum - 1) < 1e-4))
      throw badTraits(`shares of ${name} that are ${sum} together or negative`);
    at += kinds.length;
  }
}

function badTraits(what: string): CodedError {
  return new CodedError(
    failure("meta.traits", `an environment has ${what}; give one share per kind, together 1 in each group`),
  );
}

function softmax(logits: Float32Array): number[] {
  const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const powers = Array.from(logits, (logit) => Math.exp(logit - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
