/**
 * The diagonal Gaussian policy head.
 * Owns: sampling, log-probability, entropy and their gradients. All blocks are float32 in the tensor memory; the
 * arithmetic is in double, in TypeScript, so every kernel set gives the same bits.
 * Not here: the squashed form (squashed-gaussian.ts), where `logStd` lives (a network's extra or half of its output).
 */

import type { Rng } from "../../../base/index.ts";
import type { Memory, Ptr } from "../memory.ts";
import { NULL } from "../memory.ts";
import { doubles } from "./room.ts";

export interface GaussianBlocks {
  /** [rows, dims]. */
  readonly mean: Ptr;
  /** [dims] for all rows alike, or [rows, dims] with `logStdPerRow`. */
  readonly logStd: Ptr;
  readonly logStdPerRow?: boolean;
  readonly rows: number;
  readonly dims: number;
}

export interface GaussianGradients {
  /** [rows]: gradient of the objective with respect to each row's log-probability; NULL for zeros. */
  readonly dLogProb: Ptr;
  /** The same for each row's entropy; NULL or absent for zeros. */
  readonly dEntropy?: Ptr;
  /** [rows, dims], overwritten. */
  readonly dMean: Ptr;
  /** Shaped as `logStd`. Per row: overwritten. Shared: added to, since it is a parameter's gradient. */
  readonly dLogStd: Ptr;
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Draws `actions` [rows, dims] and, unless NULL or absent, their `logProb` [rows]. */
export function sampleGaussian(
  memory: Memory,
  blocks: GaussianBlocks & { readonly actions: Ptr; readonly logProb?: Ptr },
  rng: Rng,
): void {
  const { rows, dims, logStdPerRow = false, logProb = NULL } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const actions = blocks.actions >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    for (let d = 0; d < dims; d++, i++) {
      const std = Math.exp(f32[logStd + (logStdPerRow ? i : d)]!);
      f32[actions + i] = f32[mean + i]! + std * rng.normal();
    }
  }
  // From the stored float32 actions, so that recomputing it later gives the very same number.
  if (logProb !== NULL) gaussianLogProb(memory, blocks as typeof blocks & { readonly logProb: Ptr });
}

/** `logProb` [rows] of `actions` [rows, dims]. */
export function gaussianLogProb(
  memory: Memory,
  blocks: GaussianBlocks & { readonly actions: Ptr; readonly logProb: Ptr },
): void {
  const { rows, dims, logStdPerRow = false } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const actions = blocks.actions >> 2;
  const out = blocks.logProb >> 2;
  const inverses = inverseStds(f32, logStd, dims);
  for (let row = 0, i = 0; row < rows; row++) {
    let sum = 0;
    for (let d = 0; d < dims; d++, i++) {
      const log = f32[logStd + (logStdPerRow ? i : d)]!;
      const z = (f32[actions + i]! - f32[mean + i]!) * (logStdPerRow ? Math.exp(-log) : inverses[d]!);
      sum -= 0.5 * z * z + log + HALF_LOG_TWO_PI;
    }
    f32[out + row] = sum;
  }
}

/** `entropy` [rows]: Σ logStd + ½ log 2πe. */
export function gaussianEntropy(
  memory: Memory,
  blocks: Omit<GaussianBlocks, "mean"> & { readonly entropy: Ptr },
): void {
  const { rows, dims, logStdPerRow = false } = blocks;
  const f32 = memory.f32;
  const logStd = blocks.logStd >> 2;
  const out = blocks.entropy >> 2;
  for (let row = 0, i = 0; row < rows; row++) {
    let sum = 0;
    for (let d = 0; d < dims; d++, i++) sum += f32[logStd + (logStdPerRow ? i : d)]! + HALF_LOG_TWO_PI + 0.5;
    f32[out + row] = sum;
  }
}

/** Gradients of the objective with respect to mean and logStd, the actions being fixed (the score function). */
export function gaussianBackward(
  memory: Memory,
  blocks: GaussianBlocks & GaussianGradients & { readonly actions: Ptr },
): void {
  const { rows, dims, logStdPerRow = false, dLogProb, dEntropy = NULL } = blocks;
  const f32 = memory.f32;
  const mean = blocks.mean >> 2;
  const logStd = blocks.logStd >> 2;
  const actions = blocks.actions >> 2;
  const dMean = blocks.dMean >> 2;
  const dLogStd = blocks.dLogStd >> 2;
  const inverses = inverseStds(f32, logStd, dims);
  for (let row = 0, i = 0; row < rows; row++) {
    const score = dLogProb === NULL ? 0 : f32[(dLogProb >> 2) + row]!;
    const entropy = dEntropy === NULL ? 0 : f32[(dEntropy >> 2) + row]!;
    for (let d = 0; d < dims; d++, i++) {
      const inverse = logStdPerRow ? Math.exp(-f32[logStd + i]!) : inverses[d]!;
      const z = (f32[actions + i]! - f32[mean + i]!) * inverse;
      f32[dMean + i] = score * z * inverse;
      const slope = score * (z * z - 1) + entropy;
      if (logStdPerRow) f32[dLogStd + i] = slope;
      else f32[dLogStd + d]! += slope;
    }
  }
}

/** 1/std of each component, for a logStd that all rows share: once, not once per row. */
function inverseStds(f32: Float32Array, logStd: number, dims: number): Float64Array {
  const inverses = doubles(dims);
  for (let d = 0; d < dims; d++) inverses[d] = Math.exp(-f32[logStd + d]!);
  return inverses;
}
