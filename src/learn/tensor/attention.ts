/**
 * The encoder block of a transformer (arXiv:1706.03762): multi-head self-attention and a two-layer feed-forward part,
 * each with its residual connection and a layer norm behind it.
 * Owns: the block's parameters, buffers and both passes. Not here: the heads' scores (attention-heads.ts), positions
 * and token embeddings (the caller adds them to the input), stacks (feed one block's output to the next).
 *
 * Sequences are batch-major: [rows, steps, width], so that each sequence is one matrix. Masked steps are not attended to.
 */

import type { Rng } from "../../base/index.ts";
import { AttentionHeads } from "./attention-heads.ts";
import type { Initialiser } from "./initialisers.ts";
import { constant, xavierUniform, zeros } from "./initialisers.ts";
import type { Kernels } from "./kernels.ts";
import { ACT } from "./kernels.ts";
import { shapeError } from "./layers.ts";
import type { Ptr } from "./memory.ts";
import { NULL } from "./memory.ts";
import type { BackwardOptions } from "./network.ts";
import { PARAMS_ONLY } from "./network.ts";
import type { Parameter, ParameterSpec, Parameters } from "./parameters.ts";
import { ParameterBlock } from "./parameters.ts";

export interface AttentionOptions {
  readonly width: number;
  /** Must divide the width. */
  readonly heads: number;
  /** Units of the feed-forward part; default 4·width. */
  readonly feedForward?: number;
  /** Each step sees only itself and those before it. Default false. */
  readonly causal?: boolean;
  /** The longest sequence. */
  readonly steps: number;
  /** The most sequences in one call. */
  readonly batch: number;
  readonly rng: Rng;
  readonly trainable?: boolean;
  readonly share?: Parameters;
}

export interface AttentionCall {
  /** [rows, steps, width]; default: the block's own `input`. */
  readonly from?: Ptr;
  /** [rows, steps] of 0 and 1: steps with 0 are not attended to; default: all are. */
  readonly mask?: Ptr;
}

const UNMASKED: AttentionCall = {};

export interface AttentionBlock extends Parameters {
  readonly width: number;
  readonly steps: number;
  readonly batch: number;
  readonly trainable: boolean;
  /** [batch, steps, width]: room for sequences. Steps lie side by side for the steps of the call. */
  readonly input: Ptr;
  /** [batch, steps]: room for a mask. */
  readonly mask: Ptr;
  parameter(name: string): Parameter;
  /** [rows, steps, width]. Outputs at masked steps are computed but mean nothing. */
  forward(rows: number, steps: number, call?: AttentionCall): Ptr;
  /** Adds to `grads`; returns the gradient of the input when asked, else NULL. Parameter gradients are always computed. */
  backward(dOutput: Ptr, options?: Pick<BackwardOptions, "input">): Ptr;
  zeroGrads(): void;
  snapshot(): Float32Array;
  load(values: Float32Array): void;
  dispose(): void;
}

export function buildAttention(kernels: Kernels, options: AttentionOptions): AttentionBlock {
  return new EncoderBlock(kernels, options);
}

const EPSILON = 1e-5;

class EncoderBlock implements AttentionBlock {
  readonly width: number;
  readonly steps: number;
  readonly batch: number;
  readonly trainable: boolean;
  readonly input: Ptr;
  readonly mask: Ptr;
  readonly params: Ptr;
  readonly grads: Ptr;
  readonly paramCount: number;
  readonly parameters: readonly Parameter[];
  readonly #kernels: Kernels;
  readonly #block: ParameterBlock;
  readonly #inner: number;
  readonly #p: Readonly<Record<ParameterName, Parameter>>;
  readonly #heads: AttentionHeads;
  readonly #owned: Ptr[] = [];
  readonly #b: Readonly<Record<"context" | "sum1" | "norm1" | "saved1" | "hidden" | "sum2" | "output" | "saved2", Ptr>>;
  /** On the way back: three blocks of the input's size and one of the feed-forward part's. */
  readonly #d: Readonly<Record<"a" | "b" | "input" | "hidden", Ptr>>;
  #from: Ptr = NULL;
  #rows = 0;
  #steps = 0;
  #isReady = false;

  constructor(kernels: Kernels, options: AttentionOptions) {
    const { width, heads, steps, batch, rng, trainable = true, share } = options;
    const inner = options.feedForward ?? 4 * width;
    for (const [what, value] of Object.entries({ width, heads, feedForward: inner, steps, batch })) {
      if (!Number.isInteger(value) || value < 1)
        throw shapeError(`${what} must be a whole number from 1 on, got ${value}`);
    }
    if (width % heads !== 0) throw shapeError(`${heads} heads do not divide a width of ${width}; choose a divisor`);
    this.#kernels = kernels;
    this.width = width;
    this.steps = steps;
    this.batch = batch;
    this.trainable = trainable && (share === undefined || share.grads !== NULL);
    this.#inner = inner;
    this.#block = new ParameterBlock(kernels.memory, blockParameters(width, inner), { rng, trainable, share });
    this.params = this.#block.params;
    this.grads = this.#block.grads;
    this.paramCount = this.#block.paramCount;
    this.parameters = this.#block.parameters;
    this.#p = Object.fromEntries(this.parameters.map((p) => [p.name, p])) as Record<ParameterName, Parameter>;

    const every = batch * steps;
    const wide = () => this.#alloc(every * width);
    this.input = wide();
    this.mask = this.#alloc(every);
    this.#heads = new AttentionHeads(kernels, {
      ...options,
      causal: options.causal ?? false,
      trainable: this.trainable,
    });
    this.#b = {
      context: wide(),
      sum1: wide(),
      norm1: wide(),
      saved1: this.#alloc(every * 2),
      hidden: this.#alloc(every * inner),
      sum2: wide(),
      output: wide(),
      saved2: this.#alloc(every * 2),
    };
    this.#d = this.trainable
      ? { a: wide(), b: wide(), input: wide(), hidden: this.#alloc(every * inner) }
      : { a: NULL, b: NULL, input: NULL, hidden: NULL };
  }

  parameter(name: string): Parameter {
    return this.#block.find(name);
  }

  forward(rows: number, steps: number, call: AttentionCall = UNMASKED): Ptr {
    if (!(rows >= 1 && rows <= this.batch && steps >= 1 && steps <= this.steps)) throw this.#extentError(rows, steps);
    const kernels = this.#kernels;
    const { width } = this;
    const p = this.#p;
    const b = this.#b;
    const count = rows * steps;
    const from = call.from ?? this.input;
    this.#from = from;
    this.#rows = rows;
    this.#steps = steps;

    kernels.linearForward(from, p.qkvWeight.value, p.qkvBias.value, this.#heads.qkv, count, width, 3 * width, ACT.none);
    this.#heads.forward(b.context, { rows, steps, mask: call.mask ?? NULL });
    kernels.linearForward(b.context, p.outWeight.value, p.outBias.value, b.sum1, count, width, width, ACT.none);
    kernels.axpy(from, b.sum1, count * width, 1);
    kernels.layerNormForward(b.sum1, p.gamma1.value, p.beta1.value, b.norm1, b.saved1, count, width, EPSILON);

    kernels.linearForward(
      b.norm1,
      p.innerWeight.value,
      p.innerBias.value,
      b.hidden,
      count,
      width,
      this.#inner,
      ACT.relu,
    );
    kernels.linearForward(
      b.hidden,
      p.outerWeight.value,
      p.outerBias.value,
      b.sum2,
      count,
      this.#inner,
      width,
      ACT.none,
    );
    kernels.axpy(b.norm1, b.sum2, count * width, 1);
    kernels.layerNormForward(b.sum2, p.gamma2.value, p.beta2.value, b.output, b.saved2, count, width, EPSILON);
    this.#isReady = true;
    return b.output;
  }

  backward(dOutput: Ptr, options: Pick<BackwardOptions, "input"> = PARAMS_ONLY): Ptr {
    if (!this.#isReady || !this.trainable) throw this.#backwardError();
    this.#isReady = false;
    const kernels = this.#kernels;
    const { width } = this;
    const inner = this.#inner;
    const p = this.#p;
    const b = this.#b;
    const d = this.#d;
    const count = this.#rows * this.#steps;

    // Second half: output = norm(norm1 + outer(relu(inner(norm1)))).
    kernels.layerNormBackward(
      b.sum2,
      p.gamma2.value,
      b.saved2,
      dOutput,
      d.a,
      p.gamma2.grad,
      p.beta2.grad,
      count,
      width,
    );
    kernels.linearBackwardParams(b.hidden, d.a, p.outerWeight.grad, p.outerBias.grad, count, inner, width);
    kernels.linearBackwardInput(d.a, p.outerWeight.value, d.hidden, count, inner, width);
    kernels.activationBackward(b.hidden, d.hidden, d.hidden, count * inner, ACT.relu);
    kernels.linearBackwardParams(b.norm1, d.hidden, p.innerWeight.grad, p.innerBias.grad, count, width, inner);
    kernels.linearBackwardInput(d.hidden, p.innerWeight.value, d.b, count, width, inner);
    kernels.axpy(d.a, d.b, count * width, 1);

    // First half: norm1 = norm(x + out(heads(qkv(x)))).
    kernels.layerNormBackward(b.sum1, p.gamma1.value, b.saved1, d.b, d.a, p.gamma1.grad, p.beta1.grad, count, width);
    kernels.linearBackwardParams(b.context, d.a, p.outWeight.grad, p.outBias.grad, count, width, width);
    kernels.linearBackwardInput(d.a, p.outWeight.value, d.b, count, width, width);
    const dQkv = this.#heads.backward(d.b, { rows: this.#rows, steps: this.#steps });
    kernels.linearBackwardParams(this.#from, dQkv, p.qkvWeight.grad, p.qkvBias.grad, count, width, 3 * width);
    if (!options.input) return NULL;
    kernels.linearBackwardInput(dQkv, p.qkvWeight.value, d.input, count, width, 3 * width);
    kernels.axpy(d.a, d.input, count * width, 1);
    return d.input;
  }

  zeroGrads(): void {
    this.#block.zeroGrads();
  }

  snapshot(): Float32Array {
    return this.#block.snapshot();
  }

  load(values: Float32Array): void {
    this.#block.load(values);
  }

  dispose(): void {
    for (const ptr of this.#owned) this.#kernels.memory.free(ptr);
    this.#heads.dispose();
    this.#block.free();
  }

  #alloc(floats: number): Ptr {
    const ptr = this.#kernels.memory.alloc(floats);
    this.#owned.push(ptr);
    return ptr;
  }

  #extentError(rows: number, steps: number): Error {
    return shapeError(
      `the attention block was built for up to ${this.batch} rows of ${this.steps} steps and was given ${rows} of ${steps}; build it larger`,
    );
  }

  #backwardError(): Error {
    return shapeError(
      this.trainable
        ? "backward needs a forward pass of its own: call forward again before each backward"
        : "the attention block was built with trainable: false, so it has no backward pass",
    );
  }
}

type ParameterName =
  | "qkvWeight"
  | "qkvBias"
  | "outWeight"
  | "outBias"
  | "gamma1"
  | "beta1"
  | "innerWeight"
  | "innerBias"
  | "outerWeight"
  | "outerBias"
  | "gamma2"
  | "beta2";

function blockParameters(width: number, inner: number): ParameterSpec[] {
  const weight = (name: ParameterName, rows: number, cols: number): ParameterSpec => {
    // Queries, keys and values are three square matrices side by side: the bound is that of one of them.
    const fanOut = name === "qkvWeight" ? width : cols;
    return { name, rows, cols, fanIn: rows, fanOut, init: xavierUniform() };
  };
  const vector = (name: ParameterName, cols: number, init: Initialiser): ParameterSpec => ({
    name,
    rows: 1,
    cols,
    fanIn: cols,
    fanOut: cols,
    init,
  });
  return [
    weight("qkvWeight", width, 3 * width),
    vector("qkvBias", 3 * width, zeros()),
    weight("outWeight", width, width),
    vector("outBias", width, zeros()),
    vector("gamma1", width, constant(1)),
    vector("beta1", width, zeros()),
    weight("innerWeight", width, inner),
    vector("innerBias", inner, zeros()),
    weight("outerWeight", inner, width),
    vector("outerBias", width, zeros()),
    vector("gamma2", width, constant(1)),
    vector("beta2", width, zeros()),
  ];
}
