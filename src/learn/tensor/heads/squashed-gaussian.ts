/**
 * The Gaussian squashed by tanh into (−1, 1), as soft actor-critic uses it (arXiv:1812.05905, appendix C).
 * Owns: sampling, log-probability, and two kinds of gradients: with the action fixed (the score function) and with the
 * noise fixed (reparameterised). There is no closed form of the entropy: −logProb of a sample estimates it.
 * Not here: scaling to an action space's bounds.
 *
 * `raw` [rows, dims] holds the values before tanh. They are kept and passed back in, because the inverse of tanh loses
 * all digits near the bounds.
 */

import type { Rng } from "../../../base/index.ts";
import type { Memory, Ptr } from "../memory.ts";
import { NULL } from "../memory.ts";
import type { GaussianBlocks } from "./gaussian.ts";

export interface SquashedBlocks extends GaussianBlocks {
  /** [rows, dims]: before tanh. */
  readonly raw: Ptr;
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Draws `raw` and `actions` = tanh(raw), both [rows, dims], and, unless NULL or absent, `logProb` [rows]. */
export function sampleSquashed(
  memory: Memory,
  blocks: SquashedBlocks & { readonly actions: Ptr; readonly logProb?: Ptr },
  rng: Rng,
): void {
  const { rows, dims, logStdPerRow = false, logProb = NULL } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const raw = blocks.raw >> 2;
  const actions = blocks.actions >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    for (let d = 0; d < dims; d++, i++) {
      const std = Math.exp(f32[logStd + (logStdPerRow ? i : d)]!);
      f32[raw + i] = f32[mean + i]! + std * rng.normal();
      f32[actions + i] = Math.tanh(f32[raw + i]!);
    }
  }
  if (logProb !== NULL) squashedLogProb(memory, blocks as typeof blocks & { readonly logProb: Ptr });
}

/** `logProb` [rows] of tanh(raw): the Gaussian's, less log |d tanh/d raw|. */
export function squashedLogProb(memory: Memory, blocks: SquashedBlocks & { readonly logProb: Ptr }): void {
  const { rows, dims, logStdPerRow = false } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const raw = blocks.raw >> 2;
  const out = blocks.logProb >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    let sum = 0;
    for (let d = 0; d < dims; d++, i++) {
      const log = f32[logStd + (logStdPerRow ? i : d)]!;
      const u = f32[raw + i]!;
      const z = (u - f32[mean + i]!) * Math.exp(-log);
      sum -= 0.5 * z * z + log + HALF_LOG_TWO_PI + logSlope(u);
    }
    f32[out + row] = sum;
  }
}

export interface SquashedGradients {
  /** [rows]: gradient of the objective with respect to each row's log-probability; NULL for zeros. */
  readonly dLogProb: Ptr;
  /** [rows, dims], overwritten. */
  readonly dMean: Ptr;
  /** Shaped as `logStd`. Per row: overwritten. Shared: added to, since it is a parameter's gradient. */
  readonly dLogStd: Ptr;
}

/** Gradients with the action fixed: the squashing does not depend on mean and logStd, so they are the Gaussian's. */
export function squashedBackward(memory: Memory, blocks: SquashedBlocks & SquashedGradients): void {
  const { rows, dims, logStdPerRow = false, dLogProb } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const raw = blocks.raw >> 2;
  const dMean = blocks.dMean >> 2;
  const dLogStd = blocks.dLogStd >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    const score = dLogProb === NULL ? 0 : f32[(dLogProb >> 2) + row]!;
    for (let d = 0; d < dims; d++, i++) {
      const inverse = Math.exp(-f32[logStd + (logStdPerRow ? i : d)]!);
      const z = (f32[raw + i]! - f32[mean + i]!) * inverse;
      f32[dMean + i] = score * z * inverse;
      const slope = score * (z * z - 1);
      if (logStdPerRow) f32[dLogStd + i] = slope;
      else f32[dLogStd + d]! += slope;
    }
  }
}

/**
 * Gradients with the noise fixed: raw = mean + std·noise moves with both, so the objective changes through the action
 * (`dAction` [rows, dims], or NULL for zeros) and through the log-probability at the moved action.
 */
export function squashedReparameterisedBackward(
  memory: Memory,
  blocks: SquashedBlocks & SquashedGradients & { readonly dAction: Ptr },
): void {
  const { rows, dims, logStdPerRow = false, dLogProb, dAction } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const raw = blocks.raw >> 2;
  const dMean = blocks.dMean >> 2;
  const dLogStd = blocks.dLogStd >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    const score = dLogProb === NULL ? 0 : f32[(dLogProb >> 2) + row]!;
    for (let d = 0; d < dims; d++, i++) {
      const u = f32[raw + i]!;
      const tanh = Math.tanh(u);
      const pull = dAction === NULL ? 0 : f32[(dAction >> 2) + i]!;
      // With noise fixed the Gaussian part is −logStd − ½noise²; only −log(1−tanh²u), of slope 2·tanh u, moves with u.
      const dRaw = pull * (1 - tanh * tanh) + score * 2 * tanh;
      f32[dMean + i] = dRaw;
      const slope = dRaw * (u - f32[mean + i]!) - score;
      if (logStdPerRow) f32[dLogStd + i] = slope;
      else f32[dLogStd + d]! += slope;
    }
  }
}

/** log(1 − tanh²u) = 2·(log 2 − u − log(1 + e^−2u)): exact where 1 − tanh² has no digits left. */
function logSlope(u: number): number {
  const size = Math.abs(u);
  return 2 * (Math.LN2 - size - Math.log1p(Math.exp(-2 * size)));
}
