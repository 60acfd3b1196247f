/** Losses and log-probabilities in double precision, from their definitions. */

import type { Matrix } from "./matrix.ts";

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** Mean over all elements of a scalar loss, rows weighted. */
export function meanOf(
  prediction: Matrix,
  target: Matrix,
  { loss, weights }: { loss: (p: number, t: number) => number; weights?: readonly number[] | undefined },
): number {
  return mean(prediction.flatMap((row, r) => row.map((p, c) => (weights?.[r] ?? 1) * loss(p, target[r]![c]!))));
}

export const scalarLosses = {
  mse: (p: number, t: number) => (p - t) ** 2,
  l1: (p: number, t: number) => Math.abs(p - t),
  mape: (p: number, t: number) => Math.abs((p - t) / t),
  huber: (p: number, t: number) => (Math.abs(p - t) <= 1 ? (p - t) ** 2 / 2 : Math.abs(p - t) - 0.5),
  hinge: (p: number, t: number) => Math.max(0, 1 - p * t),
};

export function crossEntropy(
  logits: Matrix,
  labels: readonly number[],
  {
    weights,
    classWeights,
  }: { weights?: readonly number[] | undefined; classWeights?: readonly number[] | undefined } = {},
): number {
  let sum = 0;
  let mass = 0;
  for (const [r, row] of logits.entries()) {
    const label = labels[r]!;
    const share = classWeights?.[label] ?? 1;
    const probability = Math.exp(row[label]!) / row.reduce((total, x) => total + Math.exp(x), 0);
    sum -= share * (weights?.[r] ?? 1) * Math.log(probability);
    mass += share;
  }
  return sum / mass;
}

export function ordinal(logits: Matrix, labels: readonly number[], weights?: readonly number[]): number {
  return mean(
    logits.map((row, r) => {
      const sum = row.reduce((total, x, k) => {
        const above = 1 / (1 + Math.exp(-x));
        return total - Math.log(labels[r]! > k ? above : 1 - above);
      }, 0);
      return (weights?.[r] ?? 1) * sum;
    }),
  );
}

/** log N(x; mean, std²). */
export function normalLogDensity(x: number, mean: number, std: number): number {
  return Math.log(Math.exp(-((x - mean) ** 2) / (2 * std * std)) / Math.sqrt(2 * Math.PI * std * std));
}
