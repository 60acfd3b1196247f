/**
 * How parameters change: Adam, AdamW, SGD, clipping and soft updates, each one kernel call over a flat block.
 * Owns: the optimisers' state, and its way out and in for checkpoints.
 * Not here: gradients (networks), schedules of the learning rate (the algorithms set `lr`).
 */

import { CodedError, failure } from "../../base/index.ts";
import type { Kernels } from "./kernels.ts";
import type { Memory, Ptr } from "./memory.ts";
import { NULL } from "./memory.ts";

/** Everything an optimiser remembers, as plain copies. */
export interface OptimiserState {
  readonly kind: "adam" | "sgd";
  /** Steps taken. */
  readonly steps: number;
  /** Adam: first moments, then second moments, `count` each. SGD: velocities, or empty without momentum. */
  readonly moments: Float32Array;
}

export interface Optimiser {
  /** May be set between steps. */
  lr: number;
  /** Moves the parameters by the gradients at `grads`, which stay as they are. */
  step(grads: Ptr): void;
  state(): OptimiserState;
  /** Continues exactly where `state` was taken; a coded failure is thrown if it does not fit. */
  restore(state: OptimiserState): void;
  dispose(): void;
}

interface Target {
  readonly params: Ptr;
  readonly count: number;
}

export interface AdamOptions extends Target {
  readonly lr: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

export interface SgdOptions extends Target {
  readonly lr: number;
  readonly momentum?: number;
  /** Coupled (L2) weight decay. */
  readonly weightDecay?: number;
}

/** Kingma and Ba (arXiv:1412.6980), with bias correction as PyTorch computes it. */
export function adam(kernels: Kernels, options: AdamOptions): Optimiser {
  return new Adam(kernels, { ...options, weightDecay: 0 });
}

/** Adam with decoupled weight decay (arXiv:1711.05101): parameters shrink by lr·weightDecay in each step. */
export function adamW(kernels: Kernels, options: AdamOptions & { readonly weightDecay?: number }): Optimiser {
  return new Adam(kernels, { ...options, weightDecay: options.weightDecay ?? 0.01 });
}

export function sgd(kernels: Kernels, options: SgdOptions): Optimiser {
  return new Sgd(kernels, options);
}

class Adam implements Optimiser {
  lr: number;
  readonly #kernels: Kernels;
  readonly #params: Ptr;
  readonly #count: number;
  readonly #beta1: number;
  readonly #beta2: number;
  readonly #epsilon: number;
  readonly #weightDecay: number;
  /** First and second moments in one block. */
  readonly #moments: Ptr;
  readonly #second: Ptr;
  #steps = 0;
  /** β₁ᵗ and β₂ᵗ: one multiplication per step instead of two powers. */
  #power1 = 1;
  #power2 = 1;

  constructor(kernels: Kernels, options: AdamOptions & { readonly weightDecay: number }) {
    this.#kernels = kernels;
    this.#params = options.params;
    this.#count = options.count;
    this.lr = options.lr;
    this.#beta1 = options.beta1 ?? 0.9;
    this.#beta2 = options.beta2 ?? 0.999;
    this.#epsilon = options.epsilon ?? 1e-8;
    this.#weightDecay = options.weightDecay;
    this.#moments = kernels.memory.alloc(2 * options.count);
    this.#second = (this.#moments + 4 * options.count) as Ptr;
  }

  step(grads: Ptr): void {
    this.#advance();
    // In double: 1 − β₂ᵗ in float32 is wrong in the fourth digit at the first step, and errors of step sizes add up.
    const step = this.lr / (1 - this.#power1);
    const rootCorrection = 1 / Math.sqrt(1 - this.#power2);
    this.#kernels.adam(
      this.#params,
      grads,
      this.#moments,
      this.#second,
      this.#count,
      step,
      this.#beta1,
      this.#beta2,
      this.#epsilon,
      rootCorrection,
      this.lr * this.#weightDecay,
    );
  }

  state(): OptimiserState {
    const moments = this.#kernels.memory.view(this.#moments, 2 * this.#count).slice();
    return { kind: "adam", steps: this.#steps, moments };
  }

  restore(state: OptimiserState): void {
    restoreMoments(this.#kernels.memory, state, { kind: "adam", into: this.#moments, floats: 2 * this.#count });
    this.#steps = 0;
    this.#power1 = 1;
    this.#power2 = 1;
    // By the same multiplications, so that the next step is the very one that would have followed.
    while (this.#steps < state.steps) this.#advance();
  }

  dispose(): void {
    this.#kernels.memory.free(this.#moments);
  }

  #advance(): void {
    this.#steps += 1;
    this.#power1 *= this.#beta1;
    this.#power2 *= this.#beta2;
  }
}

class Sgd implements Optimiser {
  lr: number;
  readonly #kernels: Kernels;
  readonly #params: Ptr;
  readonly #count: number;
  readonly #momentum: number;
  readonly #weightDecay: number;
  readonly #velocity: Ptr;
  #steps = 0;

  constructor(kernels: Kernels, options: SgdOptions) {
    this.#kernels = kernels;
    this.#params = options.params;
    this.#count = options.count;
    this.lr = options.lr;
    this.#momentum = options.momentum ?? 0;
    this.#weightDecay = options.weightDecay ?? 0;
    this.#velocity = this.#momentum === 0 ? NULL : kernels.memory.alloc(options.count);
  }

  step(grads: Ptr): void {
    this.#steps += 1;
    this.#kernels.sgd(this.#params, grads, this.#velocity, this.#count, this.lr, this.#momentum, this.#weightDecay);
  }

  state(): OptimiserState {
    const moments = this.#kernels.memory.view(this.#velocity, this.#floats).slice();
    return { kind: "sgd", steps: this.#steps, moments };
  }

  restore(state: OptimiserState): void {
    restoreMoments(this.#kernels.memory, state, { kind: "sgd", into: this.#velocity, floats: this.#floats });
    this.#steps = state.steps;
  }

  dispose(): void {
    if (this.#velocity !== NULL) this.#kernels.memory.free(this.#velocity);
  }

  get #floats(): number {
    return this.#velocity === NULL ? 0 : this.#count;
  }
}

function restoreMoments(
  memory: Memory,
  state: OptimiserState,
  { kind, into, floats }: { kind: OptimiserState["kind"]; into: Ptr; floats: number },
): void {
  const fits = state.kind === kind && state.moments.length === floats && Number.isSafeInteger(state.steps);
  if (!fits || state.steps < 0) {
    throw new CodedError(
      failure(
        "tensor.optimiser-mismatch",
        `the optimiser state is of ${state.kind} with ${state.moments.length} values after ${state.steps} steps, and ${kind} with ${floats} is needed; restore it into the optimiser it was saved from`,
      ),
    );
  }
  if (floats > 0) memory.view(into, floats).set(state.moments);
}

export interface Gradients {
  readonly grads: Ptr;
  readonly count: number;
}

/** Scales the gradients down so that their Euclidean norm is at most `max`; returns the norm before. */
export function clipGradNorm(kernels: Kernels, { grads, count, max }: Gradients & { readonly max: number }): number {
  const norm = Math.sqrt(kernels.sumSquares(grads, count));
  // The small term is PyTorch's; it keeps the result strictly below `max`.
  if (norm > max) kernels.scale(grads, count, max / (norm + 1e-6));
  return norm;
}

/** The same for several networks that share one norm (an encoder and its heads). */
export function clipGradNorms(kernels: Kernels, blocks: readonly Gradients[], max: number): number {
  let squares = 0;
  for (const { grads, count } of blocks) squares += kernels.sumSquares(grads, count);
  const norm = Math.sqrt(squares);
  if (norm > max) {
    for (const { grads, count } of blocks) kernels.scale(grads, count, max / (norm + 1e-6));
  }
  return norm;
}

export interface SoftUpdateOptions {
  readonly target: Ptr;
  readonly source: Ptr;
  readonly count: number;
  /** 1 copies; DDPG uses 0.005. */
  readonly tau: number;
}

/** Polyak averaging: target += tau·(source − target). */
export function softUpdate(kernels: Kernels, { target, source, count, tau }: SoftUpdateOptions): void {
  // The formula rounds even where tau is 1; a target that starts as a copy has to be one to the bit.
  if (tau === 1) kernels.memory.f32.copyWithin(target >> 2, source >> 2, (source >> 2) + count);
  else kernels.softUpdate(target, source, count, tau);
}
