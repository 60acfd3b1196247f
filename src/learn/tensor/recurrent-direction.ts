/**
 * One direction of one recurrent layer: its weights, its buffers and the kernel calls of both passes.
 * Owns: which block holds what. Not here: how layers and directions are put together (recurrent.ts).
 *
 * The input may lie in several blocks side by side (the two directions of the layer below): the product with the weight
 * matrix is then summed over its row blocks, which saves joining them in memory.
 */

import type { Initialiser } from "./initialisers.ts";
import type { Kernels } from "./kernels.ts";
import { ACT, GEMM } from "./kernels.ts";
import type { Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";
import type { Parameter, ParameterSpec } from "./parameters.ts";

export type Cell = "gru" | "lstm";

export interface DirectionShape {
  readonly cell: Cell;
  readonly hidden: number;
  /** Widths of the input's blocks. */
  readonly parts: readonly number[];
  readonly isReverse: boolean;
}

/** One pass's extent and operands that all directions share. */
export interface SequencePass {
  steps: number;
  rows: number;
  /** [steps, rows] or NULL. */
  mask: Ptr;
}

const gatesOf = (cell: Cell) => (cell === "gru" ? 3 : 4);

/** PyTorch's default: everything uniform in ±1/√hidden. */
export function directionParameters(prefix: string, { cell, hidden, parts }: DirectionShape): ParameterSpec[] {
  const inputs = parts.reduce((sum, width) => sum + width, 0);
  const cols = gatesOf(cell) * hidden;
  const init: Initialiser = (values, _shape, rng) => {
    const limit = 1 / Math.sqrt(hidden);
    for (let i = 0; i < values.length; i++) values[i] = (2 * rng.next() - 1) * limit;
  };
  const spec = (name: string, rows: number): ParameterSpec => ({
    name: `${prefix}.${name}`,
    rows,
    cols,
    fanIn: rows,
    fanOut: cols,
    init,
  });
  const specs = [spec("inputWeight", inputs), spec("inputBias", 1), spec("stateWeight", hidden)];
  // Only the GRU's candidate gate needs a second bias (it is inside the reset product); the LSTM's would be redundant.
  if (cell === "gru") specs.push(spec("stateBias", 1));
  return specs;
}

/** Floats that the backward kernels need beside their operands. */
export function backwardScratch({ cell, hidden }: DirectionShape, steps: number, batch: number): number {
  return (cell === "gru" ? steps * batch * 3 * hidden : 0) + 4 * batch * hidden;
}

/** Blocks of one direction; networks that do not train let layers share all but `out`. */
export interface DirectionBlocks {
  /** [steps, batch, gates·hidden]: projected inputs, and on the way back their gradients in the same place. */
  readonly projected: Ptr;
  readonly saved: Ptr;
  /** [steps, batch, hidden]; NULL for a GRU. */
  readonly cells: Ptr;
  /** [steps, batch, hidden]. */
  readonly out: Ptr;
  /** [batch, hidden]: state before the first step. */
  readonly state: Ptr;
  /** [batch, hidden]: the LSTM's cell before the first step; NULL for a GRU. */
  readonly cellState: Ptr;
}

export class Direction {
  readonly shape: DirectionShape;
  readonly blocks: DirectionBlocks;
  readonly #weight: Parameter;
  readonly #bias: Parameter;
  readonly #stateWeight: Parameter;
  readonly #stateBias: Parameter | undefined;
  readonly #gates: number;

  constructor(shape: DirectionShape, parameters: readonly Parameter[], blocks: DirectionBlocks) {
    this.shape = shape;
    this.blocks = blocks;
    this.#weight = parameters[0] as Parameter;
    this.#bias = parameters[1] as Parameter;
    this.#stateWeight = parameters[2] as Parameter;
    this.#stateBias = parameters[3];
    this.#gates = gatesOf(shape.cell) * shape.hidden;
  }

  /** `inputs`: one block per part, each [steps, rows, width]. `isCarried`: begin from `blocks.state`, not from zeros. */
  forward(kernels: Kernels, inputs: readonly Ptr[], pass: SequencePass & { readonly isCarried: boolean }): void {
    const { cell, hidden, parts, isReverse } = this.shape;
    const { projected, saved, cells, out } = this.blocks;
    const { steps, rows, mask } = pass;
    const count = steps * rows;
    const width = this.#gates;
    let at = 0;
    for (let p = 0; p < parts.length; p++) {
      const inputWidth = parts[p]!;
      const weight = offset(this.#weight.value, at * width);
      if (p === 0) {
        kernels.linearForward(inputs[p]!, weight, this.#bias.value, projected, count, inputWidth, width, ACT.none);
      } else {
        kernels.gemm(
          inputs[p]!,
          inputWidth,
          weight,
          width,
          projected,
          width,
          count,
          width,
          inputWidth,
          GEMM.accumulate,
        );
      }
      at += inputWidth;
    }
    const h0 = pass.isCarried ? this.blocks.state : NULL;
    const reverse = isReverse ? 1 : 0;
    if (cell === "gru") {
      const bias = (this.#stateBias as Parameter).value;
      kernels.gruForward(projected, this.#stateWeight.value, bias, h0, mask, out, saved, steps, rows, hidden, reverse);
    } else {
      const c0 = pass.isCarried ? this.blocks.cellState : NULL;
      kernels.lstmForward(
        projected,
        this.#stateWeight.value,
        h0,
        c0,
        mask,
        out,
        cells,
        saved,
        steps,
        rows,
        hidden,
        reverse,
      );
    }
  }

  /** From `dOut` [steps, rows, hidden] to the gradient of the projected inputs; adds the state weights' gradients. */
  backwardThroughTime(
    kernels: Kernels,
    { dOut, scratch }: { readonly dOut: Ptr; readonly scratch: Ptr },
    pass: SequencePass & { readonly isCarried: boolean },
  ): void {
    const { cell, hidden, isReverse } = this.shape;
    const { projected, saved, cells, out } = this.blocks;
    const { steps, rows, mask } = pass;
    const h0 = pass.isCarried ? this.blocks.state : NULL;
    const reverse = isReverse ? 1 : 0;
    const { value: u, grad: du } = this.#stateWeight;
    if (cell === "gru") {
      const dc = (this.#stateBias as Parameter).grad;
      kernels.gruBackward(
        u,
        h0,
        mask,
        out,
        saved,
        dOut,
        projected,
        du,
        dc,
        NULL,
        scratch,
        steps,
        rows,
        hidden,
        reverse,
      );
    } else {
      const c0 = pass.isCarried ? this.blocks.cellState : NULL;
      kernels.lstmBackward(
        u,
        h0,
        c0,
        mask,
        out,
        cells,
        saved,
        dOut,
        projected,
        du,
        NULL,
        NULL,
        scratch,
        steps,
        rows,
        hidden,
        reverse,
      );
    }
  }

  /** Adds the input weights' gradients; the projected inputs' gradients must be there. */
  backwardParams(kernels: Kernels, inputs: readonly Ptr[], { steps, rows }: SequencePass): void {
    const { parts } = this.shape;
    let at = 0;
    for (let p = 0; p < parts.length; p++) {
      const grad = offset(this.#weight.grad, at * this.#gates);
      const bias = p === 0 ? this.#bias.grad : NULL;
      kernels.linearBackwardParams(inputs[p]!, this.blocks.projected, grad, bias, steps * rows, parts[p]!, this.#gates);
      at += parts[p]!;
    }
  }

  /** Writes (or adds, after another direction has written) the gradient of one part of the input. */
  backwardInput(
    kernels: Kernels,
    { part, into, add }: { readonly part: number; readonly into: Ptr; readonly add: boolean },
    { steps, rows }: SequencePass,
  ): void {
    const { parts } = this.shape;
    let at = 0;
    for (let p = 0; p < part; p++) at += parts[p]!;
    const width = parts[part]!;
    const weight = offset(this.#weight.value, at * this.#gates);
    const dz = this.blocks.projected;
    if (!add) kernels.linearBackwardInput(dz, weight, into, steps * rows, width, this.#gates);
    else {
      const flags = GEMM.transB | GEMM.accumulate;
      kernels.gemm(dz, this.#gates, weight, this.#gates, into, width, steps * rows, width, this.#gates, flags);
    }
  }
}
