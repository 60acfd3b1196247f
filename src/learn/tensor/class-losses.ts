/**
 * Losses of predictions among classes: the targets are class numbers, one per row, stored as floats.
 * Owns: cross-entropy and the ordinal loss, both over logits. Conventions are those of losses.ts.
 */

import { CodedError, failure } from "../../base/index.ts";
import type { LossOptions } from "./losses.ts";
import type { Memory } from "./memory.ts";
import { NULL } from "./memory.ts";

/**
 * Mean of −log softmax(logits)[class]: `prediction` holds logits [rows, cols], `target` class numbers [rows] in
 * [0, cols). The mean is over rows. With `classWeights` (one per class), each row counts by its class's weight and the
 * mean is over the weights' sum, as in PyTorch.
 */
export function crossEntropyLoss(
  memory: Memory,
  options: LossOptions & { readonly classWeights?: Float32Array },
): number {
  const { rows, cols, gradient, weights = NULL, classWeights } = options;
  const f32 = memory.f32;
  const p = options.prediction >> 2;
  const t = options.target >> 2;
  const g = gradient >> 2;
  const w = weights >> 2;
  let mass = rows;
  if (classWeights) {
    mass = 0;
    for (let row = 0; row < rows; row++) mass += classWeights[f32[t + row]!] ?? Number.NaN;
  }
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    const label = f32[t + row]!;
    if (!(Number.isInteger(label) && label >= 0 && label < cols)) throw badClass(label, cols);
    const weight = (weights === NULL ? 1 : f32[w + row]!) * (classWeights?.[label] ?? 1);
    const at = p + row * cols;
    let most = f32[at]!;
    for (let col = 1; col < cols; col++) most = Math.max(most, f32[at + col]!);
    let total = 0;
    for (let col = 0; col < cols; col++) total += Math.exp(f32[at + col]! - most);
    const logTotal = most + Math.log(total);
    sum += weight * (logTotal - f32[at + label]!);
    if (gradient === NULL) continue;
    const into = g + row * cols;
    for (let col = 0; col < cols; col++) {
      const probability = Math.exp(f32[at + col]! - logTotal);
      f32[into + col] = ((probability - (col === label ? 1 : 0)) * weight) / mass;
    }
  }
  return sum / mass;
}

/**
 * Ordinal loss by cumulative logits (McCullagh, 1980): `prediction` holds, for classes 0 to cols, the logits of
 * P(class > k), k = 0 … cols−1 (one column fewer than classes); `target` holds class numbers [rows] in [0, cols].
 * Being off by two classes costs two wrong answers, by one only one: that is what plain cross-entropy does not know.
 * Mean over rows of the summed binary cross-entropies.
 */
export function ordinalLoss(memory: Memory, options: LossOptions): number {
  const { rows, cols, gradient, weights = NULL } = options;
  const f32 = memory.f32;
  const p = options.prediction >> 2;
  const t = options.target >> 2;
  const g = gradient >> 2;
  const w = weights >> 2;
  let sum = 0;
  for (let row = 0, i = 0; row < rows; row++) {
    const label = f32[t + row]!;
    if (!(Number.isInteger(label) && label >= 0 && label <= cols)) throw badClass(label, cols + 1);
    const weight = weights === NULL ? 1 : f32[w + row]!;
    for (let k = 0; k < cols; k++, i++) {
      const logit = f32[p + i]!;
      const above = label > k ? 1 : 0;
      // log(1 + e^−|x|) + max(x, 0) − x·above: never overflows, exact on both tails.
      const decay = Math.exp(-Math.abs(logit));
      sum += weight * (Math.log1p(decay) + Math.max(logit, 0) - logit * above);
      if (gradient === NULL) continue;
      const probability = logit >= 0 ? 1 / (1 + decay) : decay / (1 + decay);
      f32[g + i] = ((probability - above) * weight) / rows;
    }
  }
  return sum / rows;
}

/** The most likely class per row under cumulative logits: how many thresholds are more likely passed than not. */
export function ordinalClass(
  memory: Memory,
  options: Pick<LossOptions, "prediction" | "cols"> & { row: number },
): number {
  const f32 = memory.f32;
  const at = (options.prediction >> 2) + options.row * options.cols;
  let passed = 0;
  for (let k = 0; k < options.cols; k++) if (f32[at + k]! > 0) passed += 1;
  return passed;
}

function badClass(label: number, classes: number): CodedError {
  return new CodedError(
    failure(
      "tensor.bad-class",
      `a target class is ${label}, and classes are whole numbers from 0 to ${classes - 1}; check the labels`,
    ),
  );
}
