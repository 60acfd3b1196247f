/**
 * Losses: each returns the mean loss and writes its gradient with respect to the predictions.
 * They run in TypeScript on the tensor memory, so every kernel set gives the same bits.
 * Owns: losses of values. Not here: losses of classes (class-losses.ts), the heads' log-probabilities (heads/).
 *
 * `gradient` receives d(mean loss)/d(prediction), overwritten; NULL skips it. It may be the prediction's own block.
 * With `weights` [rows], each row's loss is multiplied by its weight (importance sampling); the mean stays one over
 * all rows and columns.
 */

import type { Memory, Ptr } from "./memory.ts";
import { NULL } from "./memory.ts";

export interface LossOptions {
  /** [rows, cols]. */
  readonly prediction: Ptr;
  /** [rows, cols], unless the loss says otherwise. */
  readonly target: Ptr;
  /** [rows, cols] or NULL. */
  readonly gradient: Ptr;
  readonly rows: number;
  readonly cols: number;
  /** [rows], or absent for ones. */
  readonly weights?: Ptr;
}

/** Of one number: its loss, and that loss's derivative with respect to the prediction, both times the row's weight. */
interface PointLoss {
  value(prediction: number, target: number, weight: number): number;
  slope(prediction: number, target: number, weight: number): number;
}

function meanLoss(memory: Memory, options: LossOptions, { value, slope }: PointLoss): number {
  const { rows, cols, gradient, weights = NULL } = options;
  const f32 = memory.f32;
  const p = options.prediction >> 2;
  const t = options.target >> 2;
  const g = gradient >> 2;
  const w = weights >> 2;
  const share = 1 / (rows * cols);
  let sum = 0;
  for (let row = 0, i = 0; row < rows; row++) {
    const weight = weights === NULL ? 1 : f32[w + row]!;
    for (let col = 0; col < cols; col++, i++) {
      const prediction = f32[p + i]!;
      const target = f32[t + i]!;
      sum += value(prediction, target, weight);
      if (gradient !== NULL) f32[g + i] = slope(prediction, target, weight) * share;
    }
  }
  return sum * share;
}

const squared: PointLoss = {
  value: (p, t, weight) => weight * (p - t) * (p - t),
  slope: (p, t, weight) => 2 * weight * (p - t),
};

/** Mean of (p − t)². */
export const mseLoss = (memory: Memory, options: LossOptions): number => meanLoss(memory, options, squared);

const absolute: PointLoss = {
  value: (p, t, weight) => weight * Math.abs(p - t),
  slope: (p, t, weight) => Math.sign(p - t) * weight,
};

/** Mean of |p − t|; the gradient at 0 is 0. */
export const l1Loss = (memory: Memory, options: LossOptions): number => meanLoss(memory, options, absolute);

/**
 * Mean of |p − t| / max(|t|, floor): the mean absolute percentage error, as a share (0.1 is 10 %).
 * `floor` keeps targets near zero from taking over the mean.
 */
export function mapeLoss(memory: Memory, options: LossOptions & { readonly floor?: number }): number {
  const { floor = 1e-6 } = options;
  const scale = (t: number, weight: number) => weight / Math.max(Math.abs(t), floor);
  return meanLoss(memory, options, {
    value: (p, t, weight) => scale(t, weight) * Math.abs(p - t),
    slope: (p, t, weight) => Math.sign(p - t) * scale(t, weight),
  });
}

/** Mean of ½e² for |e| ≤ delta and delta·(|e| − ½delta) beyond (Huber, 1964); the default delta is 1. */
export function huberLoss(memory: Memory, options: LossOptions & { readonly delta?: number }): number {
  const { delta = 1 } = options;
  return meanLoss(memory, options, {
    value(p, t, weight) {
      const size = Math.abs(p - t);
      return weight * (size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta));
    },
    slope: (p, t, weight) => Math.min(Math.max(p - t, -delta), delta) * weight,
  });
}

/** Mean of max(0, margin − t·p) for targets of −1 and 1; the gradient on the hinge itself is 0. */
export function hingeLoss(memory: Memory, options: LossOptions & { readonly margin?: number }): number {
  const { margin = 1 } = options;
  return meanLoss(memory, options, {
    value: (p, t, weight) => weight * Math.max(0, margin - t * p),
    slope: (p, t, weight) => (margin - t * p > 0 ? -t * weight : 0),
  });
}
