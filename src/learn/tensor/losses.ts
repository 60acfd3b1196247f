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

/** Mean of (p − t)². */
export function mseLoss(memory: Memory, options: LossOptions): number {
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
      const error = f32[p + i]! - f32[t + i]!;
      sum += weight * error * error;
      if (gradient !== NULL) f32[g + i] = 2 * weight * error * share;
    }
  }
  return sum * share;
}

/** Mean of |p − t|; the gradient at 0 is 0. */
export function l1Loss(memory: Memory, options: LossOptions): number {
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
      const error = f32[p + i]! - f32[t + i]!;
      sum += weight * Math.abs(error);
      if (gradient !== NULL) f32[g + i] = Math.sign(error) * weight * share;
    }
  }
  return sum * share;
}

/**
 * Mean of |p − t| / max(|t|, floor): the mean absolute percentage error, as a share (0.1 is 10 %).
 * `floor` keeps targets near zero from taking over the mean.
 */
export function mapeLoss(memory: Memory, options: LossOptions & { readonly floor?: number }): number {
  const { rows, cols, gradient, weights = NULL, floor = 1e-6 } = options;
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
      const target = f32[t + i]!;
      const error = f32[p + i]! - target;
      const scale = weight / Math.max(Math.abs(target), floor);
      sum += scale * Math.abs(error);
      if (gradient !== NULL) f32[g + i] = Math.sign(error) * scale * share;
    }
  }
  return sum * share;
}

/** Mean of ½e² for |e| ≤ delta and delta·(|e| − ½delta) beyond (Huber, 1964); the default delta is 1. */
export function huberLoss(memory: Memory, options: LossOptions & { readonly delta?: number }): number {
  const { rows, cols, gradient, weights = NULL, delta = 1 } = options;
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
      const error = f32[p + i]! - f32[t + i]!;
      const size = Math.abs(error);
      sum += weight * (size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta));
      if (gradient !== NULL) f32[g + i] = Math.min(Math.max(error, -delta), delta) * weight * share;
    }
  }
  return sum * share;
}

/** Mean of max(0, margin − t·p) for targets of −1 and 1; the gradient on the hinge itself is 0. */
export function hingeLoss(memory: Memory, options: LossOptions & { readonly margin?: number }): number {
  const { rows, cols, gradient, weights = NULL, margin = 1 } = options;
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
      const side = f32[t + i]!;
      const short = margin - side * f32[p + i]!;
      if (short > 0) sum += weight * short;
      if (gradient !== NULL) f32[g + i] = short > 0 ? -side * weight * share : 0;
    }
  }
  return sum * share;
}
