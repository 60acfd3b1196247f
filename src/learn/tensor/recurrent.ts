/**
 * Stacks of GRU or LSTM layers over whole sequences, one or both ways, masked.
 * Owns: layers and directions in order, states between calls, and the way back through all of it.
 * Not here: one direction's arithmetic (recurrent-direction.ts), what follows the sequence (network.ts, glue.ts).
 *
 * Sequences are time-major: [steps, rows, width], rows being the sequences of the batch. A step whose mask is 0 does
 * not happen for that row: the state passes by unchanged and the output repeats it, so padding goes behind the data.
 */

import type { Rng } from "../../base/index.ts";
import { copyColumns } from "./glue.ts";
import type { Kernels } from "./kernels.ts";
import { shapeError } from "./layers.ts";
import type { Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";
import type { BackwardOptions } from "./network.ts";
import { PARAMS_ONLY } from "./network.ts";
import type { Parameter, Parameters } from "./parameters.ts";
import { ParameterBlock } from "./parameters.ts";
import type { Cell, DirectionShape } from "./recurrent-direction.ts";
import { backwardScratch, Direction, directionParameters } from "./recurrent-direction.ts";

export interface RecurrentOptions {
  readonly cell: Cell;
  readonly inputs: number;
  /** Units per direction. */
  readonly hidden: number;
  /** Default 1. */
  readonly layers?: number;
  /** Also read each sequence backwards; outputs are then 2·hidden wide, forward half first. Default false. */
  readonly bidirectional?: boolean;
  /** The longest sequence. */
  readonly steps: number;
  /** The most sequences in one call. */
  readonly batch: number;
  readonly rng: Rng;
  readonly trainable?: boolean;
  readonly share?: Parameters;
}

export interface SequenceOptions {
  /** [steps, rows, inputs]; default: the network's own `input`. */
  readonly from?: Ptr;
  /** [steps, rows] of 0 and 1; default: every step happens. */
  readonly mask?: Ptr;
  /** Begin from the state that `carry` kept instead of zeros. Default false. */
  readonly carried?: boolean;
}

const WHOLE: SequenceOptions = {};

export interface RecurrentNetwork extends Parameters {
  readonly inputs: number;
  readonly hidden: number;
  /** hidden, or 2·hidden when bidirectional. */
  readonly outputs: number;
  readonly steps: number;
  readonly batch: number;
  readonly trainable: boolean;
  /** [steps, batch, inputs]: room for a sequence. Rows lie side by side for the rows of the call, not of the batch. */
  readonly input: Ptr;
  /** [steps, batch]: room for a mask. */
  readonly mask: Ptr;
  parameter(name: string): Parameter;
  /** Outputs of the last layer at every step, [steps, rows, outputs]; they stay until the next `forward`. */
  forward(steps: number, rows: number, options?: SequenceOptions): Ptr;
  /**
   * For the gradient of the outputs [steps, rows, outputs]: adds to `grads`; returns the gradient of the input
   * [steps, rows, inputs] when asked, else NULL. Parameter gradients are always computed: they come with the states'.
   */
  backward(dOutput: Ptr, options?: Pick<BackwardOptions, "input">): Ptr;
  /** Copies to `into` [rows, outputs] each row's last state, forward half first, then the backward half's (at step 0). */
  lastStates(into: Ptr): void;
  /** The way back of `lastStates`: writes `dOutput` [steps, rows, outputs], zero except where those states lie. */
  lastStatesBackward(dInto: Ptr, dOutput: Ptr): void;
  /** Keeps the states after the last step for the next call with `carried: true`: acting step by step. */
  carry(): void;
  /** Sets the kept states of all rows, or of one, to zero: a new episode begins. */
  resetState(row?: number): void;
  zeroGrads(): void;
  snapshot(): Float32Array;
  load(values: Float32Array): void;
  dispose(): void;
}

export function buildRecurrent(kernels: Kernels, options: RecurrentOptions): RecurrentNetwork {
  return new Stack(kernels, options);
}

class Stack implements RecurrentNetwork {
  readonly inputs: number;
  readonly hidden: number;
  readonly outputs: number;
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
  /** By layer, then by direction. */
  readonly #layers: readonly (readonly Direction[])[];
  readonly #cell: Cell;
  /** Blocks that layer l reads; those of layer 0 change with each call. */
  readonly #sources: Ptr[][];
  readonly #output: Ptr;
  /** Per direction [steps, batch, hidden]: gradients of a layer's outputs, one layer after the other. */
  readonly #dOut: readonly Ptr[];
  readonly #scratch: Ptr;
  readonly #dInput: Ptr;
  readonly #owned: Ptr[] = [];
  readonly #pass = { steps: 0, rows: 0, mask: NULL, isCarried: false };
  #isReady = false;

  constructor(kernels: Kernels, options: RecurrentOptions) {
    const { cell, inputs, hidden, layers = 1, steps, batch, rng, trainable = true, share } = options;
    for (const [what, value] of Object.entries({ inputs, hidden, layers, steps, batch })) {
      if (!Number.isInteger(value) || value < 1)
        throw shapeError(`${what} must be a whole number from 1 on, got ${value}`);
    }
    const directions = options.bidirectional ? 2 : 1;
    this.#kernels = kernels;
    this.#cell = cell;
    this.inputs = inputs;
    this.hidden = hidden;
    this.outputs = directions * hidden;
    this.steps = steps;
    this.batch = batch;
    this.trainable = trainable && (share === undefined || share.grads !== NULL);

    const shapes = Array.from({ length: layers }, (_, layer) =>
      Array.from(
        { length: directions },
        (_, direction): DirectionShape => ({
          cell,
          hidden,
          parts: layer === 0 ? [inputs] : new Array<number>(directions).fill(hidden),
          isReverse: direction === 1,
        }),
      ),
    );
    const specs = shapes.map((layer, l) =>
      layer.map((shape, d) => directionParameters(`${l}.${d === 0 ? "forward" : "reverse"}`, shape)),
    );
    this.#block = new ParameterBlock(kernels.memory, specs.flat(2), { rng, trainable, share });
    this.params = this.#block.params;
    this.grads = this.#block.grads;
    this.paramCount = this.#block.paramCount;
    this.parameters = this.#block.parameters;

    const every = steps * batch;
    this.input = this.#alloc(every * inputs);
    this.mask = this.#alloc(every);
    this.#output = directions === 1 ? NULL : this.#alloc(every * this.outputs);
    const gates = (cell === "gru" ? 3 : 4) * hidden;
    const workspace = () => ({
      projected: this.#alloc(every * gates),
      saved: this.#alloc(every * 4 * hidden),
    });
    // Without training only outputs and cells outlive their layer's pass: `carry` reads them.
    const common = this.trainable ? undefined : Array.from({ length: directions }, workspace);
    let at = 0;
    this.#layers = shapes.map((layer, l) =>
      layer.map((shape, d) => {
        const own = this.parameters.slice(at, at + specs[l]![d]!.length);
        at += own.length;
        return new Direction(shape, own, {
          ...(common?.[d] ?? workspace()),
          out: this.#alloc(every * hidden),
          cells: cell === "lstm" ? this.#alloc(every * hidden) : NULL,
          state: this.#alloc(batch * hidden),
          cellState: cell === "lstm" ? this.#alloc(batch * hidden) : NULL,
        });
      }),
    );
    this.#sources = [[NULL], ...this.#layers.map((layer) => layer.map((direction) => direction.blocks.out))];
    const training = this.trainable ? directions : 0;
    this.#dOut = Array.from({ length: training }, () => this.#alloc(every * hidden));
    this.#scratch = this.trainable ? this.#alloc(backwardScratch(shapes[0]![0]!, steps, batch)) : NULL;
    this.#dInput = this.trainable ? this.#alloc(every * inputs) : NULL;
  }

  parameter(name: string): Parameter {
    return this.#block.find(name);
  }

  forward(steps: number, rows: number, options: SequenceOptions = WHOLE): Ptr {
    if (!(steps >= 1 && steps <= this.steps && rows >= 1 && rows <= this.batch)) throw this.#extentError(steps, rows);
    const pass = this.#pass;
    pass.steps = steps;
    pass.rows = rows;
    pass.mask = options.mask ?? NULL;
    pass.isCarried = options.carried ?? false;
    this.#sources[0]![0] = options.from ?? this.input;
    for (let l = 0; l < this.#layers.length; l++) {
      const layer = this.#layers[l]!;
      for (let d = 0; d < layer.length; d++) layer[d]!.forward(this.#kernels, this.#sources[l]!, pass);
    }
    this.#isReady = true;
    const top = this.#sources[this.#layers.length]!;
    if (top.length === 1) return top[0]!;
    this.#copyHalves(top, { fromHalves: true, whole: this.#output });
    return this.#output;
  }

  backward(dOutput: Ptr, options: Pick<BackwardOptions, "input"> = PARAMS_ONLY): Ptr {
    if (!this.#isReady || !this.trainable) throw this.#backwardError();
    this.#isReady = false;
    const pass = this.#pass;
    const directions = this.#dOut.length;
    // One direction reads the caller's block as it is; two halves are taken apart.
    if (directions > 1) this.#copyHalves(this.#dOut, { fromHalves: false, whole: dOutput });
    for (let l = this.#layers.length - 1; l >= 0; l--) {
      const layer = this.#layers[l]!;
      const isTop = l === this.#layers.length - 1;
      for (let d = 0; d < directions; d++) {
        const dOut = isTop && directions === 1 ? dOutput : this.#dOut[d]!;
        layer[d]!.backwardThroughTime(this.#kernels, { dOut, scratch: this.#scratch }, pass);
        layer[d]!.backwardParams(this.#kernels, this.#sources[l]!, pass);
      }
      if (l > 0) {
        for (let part = 0; part < directions; part++) this.#partGradient(layer, part, this.#dOut[part]!);
      } else if (options.input) this.#partGradient(layer, 0, this.#dInput);
    }
    return options.input ? this.#dInput : NULL;
  }

  lastStates(into: Ptr): void {
    const { steps, rows } = this.#pass;
    const { memory } = this.#kernels;
    const { hidden } = this;
    for (const [d, out] of this.#sources[this.#layers.length]!.entries()) {
      const at = d === 0 ? (steps - 1) * rows * hidden : 0;
      const from = { ptr: offset(out, at), width: hidden };
      copyColumns(memory, { from, into: { ptr: into, width: this.outputs, at: d * hidden }, rows, cols: hidden });
    }
  }

  lastStatesBackward(dInto: Ptr, dOutput: Ptr): void {
    const { steps, rows } = this.#pass;
    const { memory } = this.#kernels;
    const { hidden, outputs } = this;
    memory.f32.fill(0, dOutput >> 2, (dOutput >> 2) + steps * rows * outputs);
    for (let d = 0; d * hidden < outputs; d++) {
      const at = d === 0 ? (steps - 1) * rows * outputs : 0;
      const into = { ptr: offset(dOutput, at), width: outputs, at: d * hidden };
      copyColumns(memory, { from: { ptr: dInto, width: outputs, at: d * hidden }, into, rows, cols: hidden });
    }
  }

  carry(): void {
    const { steps, rows } = this.#pass;
    const f32 = this.#kernels.memory.f32;
    const floats = rows * this.hidden;
    for (const layer of this.#layers) {
      for (const { shape, blocks } of layer) {
        const at = shape.isReverse ? 0 : (steps - 1) * floats;
        const out = (blocks.out >> 2) + at;
        f32.copyWithin(blocks.state >> 2, out, out + floats);
        const cells = (blocks.cells >> 2) + at;
        if (this.#cell === "lstm") f32.copyWithin(blocks.cellState >> 2, cells, cells + floats);
      }
    }
  }

  resetState(row?: number): void {
    const f32 = this.#kernels.memory.f32;
    const { hidden } = this;
    const first = (row ?? 0) * hidden;
    const end = row === undefined ? this.batch * hidden : first + hidden;
    for (const layer of this.#layers) {
      for (const { blocks } of layer) {
        f32.fill(0, (blocks.state >> 2) + first, (blocks.state >> 2) + end);
        if (this.#cell === "lstm") f32.fill(0, (blocks.cellState >> 2) + first, (blocks.cellState >> 2) + end);
      }
    }
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
  }

  #alloc(floats: number): Ptr {
    const ptr = this.#kernels.memory.alloc(floats);
    this.#owned.push(ptr);
    return ptr;
  }

  /** Both directions read the same input, so each part's gradient is a sum of two, always in this order. */
  #partGradient(layer: readonly Direction[], part: number, into: Ptr): void {
    for (let d = 0; d < layer.length; d++)
      layer[d]!.backwardInput(this.#kernels, { part, into, add: d > 0 }, this.#pass);
  }

  /** Between two blocks [steps, rows, hidden] and one [steps, rows, 2·hidden]. */
  #copyHalves(halves: readonly Ptr[], { fromHalves, whole }: { fromHalves: boolean; whole: Ptr }): void {
    const f32 = this.#kernels.memory.f32;
    const { hidden, outputs } = this;
    const count = this.#pass.steps * this.#pass.rows;
    for (let d = 0; d < halves.length; d++) {
      let half = halves[d]! >> 2;
      let at = (whole >> 2) + d * hidden;
      for (let row = 0; row < count; row++) {
        if (fromHalves) f32.copyWithin(at, half, half + hidden);
        else f32.copyWithin(half, at, at + hidden);
        half += hidden;
        at += outputs;
      }
    }
  }

  #extentError(steps: number, rows: number): Error {
    return shapeError(
      `the recurrent network was built for up to ${this.steps} steps of ${this.batch} rows and was given ${steps} of ${rows}; build it larger`,
    );
  }

  #backwardError(): Error {
    return shapeError(
      this.trainable
        ? "backward needs a forward pass of its own: call forward again before each backward"
        : "the recurrent network was built with trainable: false, so it has no backward pass",
    );
  }
}
