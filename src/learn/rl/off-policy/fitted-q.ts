/**
 * Fitted-Q evaluation over a finite horizon, on linear features, for many resamples of the same episodes.
 * With h steps to go, Q_h = r + Q_{h−1}(s′, π(s′)) is fitted by ridge regression, from Q_0 = 0 on.
 *
 * Why linear and finite: the sum of an episode's rewards is asked for, not a discounted tail, and no target network has
 * to be waited for; one factorisation serves all steps of the horizon, so a fresh fit on a resample costs milliseconds
 * and the interval is that of whole refits over episodes (arXiv:2102.03607), not of the last layer.
 */

import { dot, factorise, solveFactorised } from "./ridge.ts";
import type { StepTable } from "./step-table.ts";

/** Sums over the rows of one block of episodes, which resamples add up. */
export interface BlockSums {
  /** Φᵀ·Φ and Φᵀ·Ψ, [size, size]; Φᵀ·r, [size]. Ψ are the features after the step, zero where the task ended. */
  readonly gram: Float64Array;
  readonly onward: Float64Array;
  readonly rewarded: Float64Array;
}

export interface Features {
  readonly size: number;
  /** [rows, size]: of what was done; of what the policy would do in the same state, and in the next. */
  readonly done: Float64Array;
  readonly wouldDo: Float64Array;
  readonly wouldDoNext: Float64Array;
}

/** The sums of rows `from` up to `to`. Rewards are taken less `centre`, so that what was never seen is worth the mean. */
export function blockSums(
  table: StepTable,
  { size, done, wouldDoNext }: Features,
  { from, to, centre }: { readonly from: number; readonly to: number; readonly centre: number },
): BlockSums {
  const gram = new Float64Array(size * size);
  const onward = new Float64Array(size * size);
  const rewarded = new Float64Array(size);
  for (let row = from; row < to; row++) {
    const at = row * size;
    const goesOn = table.goesOn[row] === 1;
    const reward = table.rewards[row]! - centre;
    for (let i = 0; i < size; i++) {
      const x = done[at + i]!;
      rewarded[i] = rewarded[i]! + x * reward;
      const into = i * size;
      for (let j = 0; j <= i; j++) gram[into + j] = gram[into + j]! + x * done[at + j]!;
      if (goesOn) for (let j = 0; j < size; j++) onward[into + j] = onward[into + j]! + x * wouldDoNext[at + j]!;
    }
  }
  return { gram, onward, rewarded };
}

export interface FitOptions {
  readonly size: number;
  readonly horizon: number;
  /** Added to the diagonal, per row of data. */
  readonly ridge: number;
}

/** The weights [horizon + 1, size] of Q_0 … Q_horizon for blocks taken `counts` times each; undefined if they do not determine any. */
export function fitQ(
  blocks: readonly BlockSums[],
  counts: ArrayLike<number>,
  { size, horizon, ridge }: FitOptions,
): Float64Array | undefined {
  const gram = new Float64Array(size * size);
  const onward = new Float64Array(size * size);
  const rewarded = new Float64Array(size);
  blocks.forEach((block, b) => {
    const count = counts[b]!;
    if (count === 0) return;
    for (let i = 0; i < gram.length; i++) {
      gram[i] = gram[i]! + count * block.gram[i]!;
      onward[i] = onward[i]! + count * block.onward[i]!;
    }
    for (let i = 0; i < size; i++) rewarded[i] = rewarded[i]! + count * block.rewarded[i]!;
  });
  // The first feature is the constant, so its square summed is the number of rows. It is not shrunk itself.
  const rows = gram[0]!;
  for (let i = 1; i < size; i++) gram[i * size + i] = gram[i * size + i]! + ridge * rows;
  if (!factorise(gram, size)) return undefined;
  const weights = new Float64Array((horizon + 1) * size);
  const sums = new Float64Array(size);
  for (let h = 1; h <= horizon; h++) {
    const before = weights.subarray((h - 1) * size, h * size);
    for (let i = 0; i < size; i++) sums[i] = rewarded[i]! + dot(onward, before, { at: i * size, size });
    solveFactorised(gram, size, sums);
    weights.set(sums, h * size);
  }
  return weights;
}
