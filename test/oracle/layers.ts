/** The layers of the engine once more, in double precision, from their textbook formulas. Forward only. */

import type { Matrix } from "./matrix.ts";
import { map, product } from "./matrix.ts";

const activations: Record<string, (x: number) => number> = {
  none: (x) => x,
  relu: (x) => (x > 0 ? x : 0),
  tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};

export function activate(name: string, x: number): number {
  const f = activations[name];
  if (!f) throw new Error(`the oracle does not know the activation ${name}`);
  return f(x);
}

export function denseLayer(
  x: Matrix,
  { weight, bias, activation }: { weight: Matrix; bias: readonly number[]; activation: string },
): Matrix {
  return map(product(x, weight), (value, _row, col) => activate(activation, value + bias[col]!));
}

export function softmaxRows(x: Matrix): Matrix {
  return x.map((row) => {
    const most = Math.max(...row);
    const powers = row.map((value) => Math.exp(value - most));
    const total = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / total);
  });
}

export function layerNormRows(
  x: Matrix,
  { gamma, beta, epsilon }: { gamma: readonly number[]; beta: readonly number[]; epsilon: number },
): Matrix {
  return x.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
    return row.map((value, i) => ((value - mean) / Math.sqrt(variance + epsilon)) * gamma[i]! + beta[i]!);
  });
}

/** What the oracle needs to know of a feed-forward network: its layers, and its parameters in the engine's order. */
export type OracleLayer =
  | { readonly kind: "dense"; readonly inputs: number; readonly outputs: number; readonly activation: string }
  | { readonly kind: "activation"; readonly activation: string }
  | { readonly kind: "softmax" }
  | { readonly kind: "layerNorm"; readonly epsilon: number };

export function feedForward(layers: readonly OracleLayer[], params: ArrayLike<number>, input: Matrix): Matrix {
  let at = 0;
  const take = (count: number) => Array.from({ length: count }, () => params[at++]!);
  let x = input;
  for (const layer of layers) {
    const width = x[0]!.length;
    if (layer.kind === "dense") {
      const weight = Array.from({ length: layer.inputs }, () => take(layer.outputs));
      x = denseLayer(x, { weight, bias: take(layer.outputs), activation: layer.activation });
    } else if (layer.kind === "activation") {
      x = map(x, (value) => activate(layer.activation, value));
    } else if (layer.kind === "softmax") {
      x = softmaxRows(x);
    } else {
      const gamma = take(width);
      x = layerNormRows(x, { gamma, beta: take(width), epsilon: layer.epsilon });
    }
  }
  return x;
}
