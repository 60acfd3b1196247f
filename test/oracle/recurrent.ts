/** GRU and LSTM stacks in double precision, cell by cell, from their published equations. Forward only. */

import type { Matrix } from "./matrix.ts";

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

export interface OracleStack {
  readonly cell: "gru" | "lstm";
  readonly inputs: number;
  readonly hidden: number;
  readonly layers: number;
  readonly bidirectional: boolean;
}

/** x·W + b for one row, W being [inputs, outputs]. */
const affine = (x: readonly number[], weight: Matrix, bias: readonly number[]) =>
  bias.map((b, j) => x.reduce((sum, value, i) => sum + value * weight[i]![j]!, b));

interface DirectionWeights {
  readonly inputWeight: Matrix;
  readonly inputBias: readonly number[];
  readonly stateWeight: Matrix;
  readonly stateBias: readonly number[];
}

function gruStep(x: readonly number[], h: readonly number[], w: DirectionWeights): number[] {
  const H = h.length;
  const fromInput = affine(x, w.inputWeight, w.inputBias);
  const fromState = affine(h, w.stateWeight, w.stateBias);
  return h.map((old, j) => {
    const reset = sigmoid(fromInput[j]! + fromState[j]!);
    const update = sigmoid(fromInput[H + j]! + fromState[H + j]!);
    const candidate = Math.tanh(fromInput[2 * H + j]! + reset * fromState[2 * H + j]!);
    return (1 - update) * candidate + update * old;
  });
}

function lstmStep(x: readonly number[], [h, c]: readonly [readonly number[], readonly number[]], w: DirectionWeights) {
  const H = h.length;
  const fromInput = affine(x, w.inputWeight, w.inputBias);
  const fromState = affine(h, w.stateWeight, w.stateBias);
  const gate = (k: number, j: number) => fromInput[k * H + j]! + fromState[k * H + j]!;
  const cell = c.map((old, j) => sigmoid(gate(1, j)) * old + sigmoid(gate(0, j)) * Math.tanh(gate(2, j)));
  const state = cell.map((value, j) => sigmoid(gate(3, j)) * Math.tanh(value));
  return [state, cell] as const;
}

/** One sequence [steps][inputs] through one direction; a masked step repeats the state. */
function runDirection(
  sequence: Matrix,
  w: DirectionWeights,
  { stack, mask, reverse }: { stack: OracleStack; mask: readonly number[]; reverse: boolean },
): Matrix {
  const order = sequence.map((_, t) => t);
  if (reverse) order.reverse();
  let h: readonly number[] = new Array<number>(stack.hidden).fill(0);
  let c: readonly number[] = h;
  const out: (readonly number[])[] = new Array(sequence.length);
  for (const t of order) {
    if (mask[t] !== 0) {
      if (stack.cell === "gru") h = gruStep(sequence[t]!, h, w);
      else [h, c] = lstmStep(sequence[t]!, [h, c], w);
    }
    out[t] = h;
  }
  return out;
}

/**
 * One sequence through the whole stack. Parameters come flat in the engine's documented order: per layer, per
 * direction: input weight [inputs, gates·H], input bias, state weight [H, gates·H] and, for a GRU, state bias.
 */
export function runStack(
  stack: OracleStack,
  params: ArrayLike<number>,
  { sequence, mask }: { sequence: Matrix; mask?: readonly number[] },
): Matrix {
  const { cell, hidden, layers, bidirectional } = stack;
  const cols = (cell === "gru" ? 3 : 4) * hidden;
  let at = 0;
  const take = (count: number) => Array.from({ length: count }, () => params[at++]!);
  const takeMatrix = (rows: number) => Array.from({ length: rows }, () => take(cols));
  let x = sequence;
  for (let layer = 0; layer < layers; layer++) {
    const input = x;
    const halves = (bidirectional ? [false, true] : [false]).map((reverse) => {
      const weights = {
        inputWeight: takeMatrix(input[0]!.length),
        inputBias: take(cols),
        stateWeight: takeMatrix(hidden),
        stateBias: cell === "gru" ? take(cols) : new Array<number>(cols).fill(0),
      };
      return runDirection(input, weights, { stack, mask: mask ?? input.map(() => 1), reverse });
    });
    x = input.map((_, t) => halves.flatMap((half) => [...half[t]!]));
  }
  return x;
}
