/**
 * A feed-forward network: static layers, preallocated buffers, hand-written backward pass.
 * Owns: the order of calls, the activations, and the rule that a backward pass belongs to the forward pass before it.
 * Not here: what a layer computes (stages.ts), losses, optimisers.
 *
 * Nothing is allocated after construction. Gradients flow back through the very buffers the activations came in, so a
 * backward pass uses up the hidden activations of its forward pass (never the output): one `backward` per `forward`.
 */

import type { Rng } from "../../base/index.ts";
import type { Initialiser } from "./initialisers.ts";
import { constant } from "./initialisers.ts";
import type { Kernels } from "./kernels.ts";
import type { LayerSpec, ResolvedLayer } from "./layers.ts";
import { resolveLayers, shapeError } from "./layers.ts";
import type { Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";
import type { Parameter, ParameterSpec, Parameters } from "./parameters.ts";
import { ParameterBlock } from "./parameters.ts";
import { Scratch } from "./scratch.ts";
import type { BackwardPass, Stage } from "./stages.ts";
import { buildStage } from "./stages.ts";

export interface NetworkOptions {
  readonly layers: readonly LayerSpec[];
  /** The most rows one call may have. */
  readonly batch: number;
  /** Where the initial values come from; each parameter draws from a fork of its own. */
  readonly rng: Rng;
  /** False: no gradients and fewer buffers, for target networks and serving. Default true. */
  readonly trainable?: boolean;
  /** Width of the input, needed only when the first layer does not name it. */
  readonly inputs?: number;
  /** Learned vectors that no layer holds, for example a policy's `logStd`; reach them by `parameter(name)`. */
  readonly extras?: readonly { readonly name: string; readonly size: number; readonly init?: Initialiser }[];
  /** Use another network's parameters and gradients, with activations of one's own (acting while training). */
  readonly share?: Parameters;
}

export interface BackwardOptions {
  /** Accumulate parameter gradients into `grads`. Default true; false when only passing through (DDPG's critic). */
  readonly params?: boolean;
  /** Compute the gradient of the input. Default false. */
  readonly input?: boolean;
}

/** Ready-made options, so that hot loops do not make an object per call. */
export const PARAMS_ONLY: BackwardOptions = { params: true, input: false };
export const INPUT_ONLY: BackwardOptions = { params: false, input: true };
export const PARAMS_AND_INPUT: BackwardOptions = { params: true, input: true };

export interface Network extends Parameters {
  readonly inputs: number;
  readonly outputs: number;
  readonly batch: number;
  readonly trainable: boolean;
  /** [batch, inputs]: room for observations, for callers that have no buffer of their own. */
  readonly input: Ptr;
  /** [batch, outputs]: where `forward` leaves its result. */
  readonly output: Ptr;
  /** All parameters, in order, as one block of `paramCount` floats. */
  readonly params: Ptr;
  /** Their gradients, likewise; NULL when not trainable. `backward` adds to them. */
  readonly grads: Ptr;
  readonly paramCount: number;
  readonly parameters: readonly Parameter[];
  /** One parameter by name: `0.weight` [inputs, outputs], `0.bias`, `1.gamma`, `1.beta`, or an extra's name. */
  parameter(name: string): Parameter;
  /**
   * The output [rows, outputs] for the input [rows, inputs] at `from`. What is at `from` must stay as it is until
   * `backward`; the result stays until the next `forward`.
   */
  forward(rows: number, from?: Ptr): Ptr;
  /**
   * For the gradient of the output at `dOutput` [rows, outputs] (left as it is): adds to `grads`, and returns the
   * gradient of the input [rows, inputs] when asked, else NULL. It stays there until the next `backward`.
   */
  backward(rows: number, dOutput: Ptr, options?: BackwardOptions): Ptr;
  zeroGrads(): void;
  /** A copy of all parameters. */
  snapshot(): Float32Array;
  /** Puts a snapshot back; a coded failure is thrown if it does not fit or is not finite. */
  load(values: Float32Array): void;
  /** Frees everything; the network must not be used afterwards. */
  dispose(): void;
}

export function buildNetwork(kernels: Kernels, options: NetworkOptions): Network {
  return new FeedForward(kernels, options);
}

class FeedForward implements Network {
  readonly inputs: number;
  readonly outputs: number;
  readonly batch: number;
  readonly trainable: boolean;
  readonly input: Ptr;
  readonly output: Ptr;
  readonly params: Ptr;
  readonly grads: Ptr;
  readonly paramCount: number;
  readonly parameters: readonly Parameter[];
  readonly #kernels: Kernels;
  readonly #block: ParameterBlock;
  readonly #stages: readonly Stage[];
  readonly #last: number;
  readonly #dInput: Ptr;
  readonly #scratch: Scratch;
  /** Floats after which the scratch holds the last layer's gradient before its activation. */
  readonly #outputGradientAt: number;
  readonly #owned: readonly Ptr[];
  readonly #pass: BackwardPass = { rows: 0, params: true, x: NULL, dy: NULL, dx: NULL, room: NULL };
  #from: Ptr = NULL;
  /** Rows whose activations are intact; 0 when there is no forward pass to go back through. */
  #ready = 0;

  constructor(kernels: Kernels, options: NetworkOptions) {
    const { batch, rng, trainable = true, share } = options;
    if (!Number.isInteger(batch) || batch < 1) throw shapeError(`batch must be a whole number from 1 on, got ${batch}`);
    const layers = resolveLayers(options.layers, options.inputs);
    const last = layers.at(-1) as ResolvedLayer;
    const memory = kernels.memory;
    this.#kernels = kernels;
    this.batch = batch;
    this.trainable = trainable && (share === undefined || share.grads !== NULL);
    this.inputs = (layers[0] as ResolvedLayer).inputs;
    this.outputs = last.outputs;
    this.#block = new ParameterBlock(memory, [...layers.flatMap((l) => l.parameters), ...extraSpecs(options)], {
      rng,
      trainable,
      share,
    });
    this.params = this.#block.params;
    this.grads = this.#block.grads;
    this.paramCount = this.#block.paramCount;
    this.parameters = this.#block.parameters;

    this.input = memory.alloc(batch * this.inputs);
    this.output = memory.alloc(batch * this.outputs);
    this.#dInput = this.trainable ? memory.alloc(batch * this.inputs) : NULL;
    const owned: Ptr[] = [this.input, this.output];
    if (this.trainable) owned.push(this.#dInput);
    const widest = layers.reduce((most, layer, i) => (i < layers.length - 1 ? Math.max(most, layer.outputs) : most), 0);
    // Without training no activation outlives the next layer's pass: two buffers in turn are enough.
    const turns = this.trainable ? [] : [memory.alloc(batch * widest), memory.alloc(batch * widest)];
    owned.push(...turns);
    let at = 0;
    this.#stages = layers.map((layer, index) => {
      const own = this.#block.parameters.slice(at, at + layer.parameters.length);
      at += layer.parameters.length;
      let y = this.output;
      if (index < layers.length - 1) {
        y = turns[index % 2] ?? memory.alloc(batch * layer.outputs);
        if (this.trainable) owned.push(y);
      }
      const stage = buildStage(kernels, layer, { y, parameters: own, batch });
      owned.push(...stage.owned);
      return stage;
    });
    this.#last = this.#stages.length - 1;
    this.#owned = owned;
    this.#outputGradientAt = batch * widest;
    this.#scratch = Scratch.acquire(memory, this.trainable ? batch * (widest + this.outputs) : 0);
  }

  parameter(name: string): Parameter {
    return this.#block.find(name);
  }

  forward(rows: number, from: Ptr = this.input): Ptr {
    if (!(rows >= 1 && rows <= this.batch)) throw this.#rowsError(rows);
    const stages = this.#stages;
    let x = from;
    for (let i = 0; i < stages.length; i++) x = stages[i]!.forward(x, rows);
    this.#from = from;
    this.#ready = rows;
    return x;
  }

  backward(rows: number, dOutput: Ptr, options: BackwardOptions = PARAMS_ONLY): Ptr {
    if (rows !== this.#ready || !this.trainable) throw this.#backwardError(rows);
    this.#ready = 0;
    const wantsInput = options.input ?? false;
    const scratch = this.#scratch.ptr;
    const pass = this.#pass;
    pass.rows = rows;
    pass.params = options.params ?? true;
    pass.dy = dOutput;
    for (let i = this.#last; i >= 0; i--) {
      const stage = this.#stages[i]!;
      pass.x = i === 0 ? this.#from : this.#stages[i - 1]!.y;
      pass.dx = i > 0 ? scratch : wantsInput ? this.#dInput : NULL;
      // The output is the caller's to read, and so is dOutput: the last stage works beside both.
      pass.room = i === this.#last ? offset(scratch, this.#outputGradientAt) : stage.y;
      stage.backward(pass);
      pass.dy = pass.dx;
    }
    return pass.dx;
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
    this.#block.free();
    this.#scratch.release();
  }

  #rowsError(rows: number): Error {
    return shapeError(
      `the network was built for 1 to ${this.batch} rows and was given ${rows}; build it with a larger batch`,
    );
  }

  #backwardError(rows: number): Error {
    if (!this.trainable) return shapeError("the network was built with trainable: false, so it has no backward pass");
    return shapeError(
      this.#ready === 0
        ? "backward needs a forward pass of its own: call forward again before each backward"
        : `backward was given ${rows} rows and the forward pass before it had ${this.#ready}; use the same rows`,
    );
  }
}

function extraSpecs({ extras = [] }: NetworkOptions): ParameterSpec[] {
  return extras.map(({ name, size, init = constant(0) }) => ({
    name,
    rows: 1,
    cols: size,
    fanIn: size,
    fanOut: size,
    init,
  }));
}
