/**
 * Fitted-Q evaluation over a finite horizon, on linear features, for many selections of the same episodes.
 * With h steps to go, Q_h = r + Q_{h−1}(s′, π(s′)) is fitted by ridge regression, from Q_0 = 0 on.
 *
 * Why linear and finite: the sum of an episode's rewards is asked for, not a discounted tail, and no target network has
 * to be waited for; one factorisation serves all steps of the horizon, so a fresh fit costs a millisecond or two
 * and the interval is that of whole refits over episodes (arXiv:2102.03607), not of the last layer.
 */

import { addProducts, addProductWith, addTimes, factorise, solveColumns, solveFactorised } from "./ridge.ts";
import type { StepTable } from "./step-table.ts";

/** Sums over the rows of one block of episodes, which fits add up. */
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
  addProducts(gram, { a: done, b: done }, { from, to, size, part: "lower" });
  addProducts(
    onward,
    { a: done, b: withoutEnds(table, wouldDoNext, { from, to, size }) },
    { from, to, size, part: "all" },
  );
  for (let row = from; row < to; row++) {
    const reward = table.rewards[row]! - centre;
    for (let i = 0; i < size; i++) rewarded[i]! += done[row * size + i]! * reward;
  }
  return { gram, onward, rewarded };
}

/** The features after the step, with zeros where none follows. */
function withoutEnds(
  { goesOn }: StepTable,
  next: Float64Array,
  { from, to, size }: { readonly from: number; readonly to: number; readonly size: number },
): Float64Array {
  if (!goesOn.subarray(from, to).includes(0)) return next;
  const cut = next.slice();
  for (let row = from; row < to; row++) if (goesOn[row] === 0) cut.fill(0, row * size, (row + 1) * size);
  return cut;
}

export interface FitOptions {
  readonly size: number;
  readonly horizon: number;
  /** Added to the diagonal, per row of data. */
  readonly ridge: number;
}

/**
 * Fits to blocks taken so many times each: the weights [horizon + 1, size] of Q_0 … Q_horizon, or undefined if the blocks
 * do not determine any. A fit overwrites the weights of the one before: dozens of them in new memory each would cost
 * as much for the memory as for the numbers.
 */
export type QFitter = (counts: ArrayLike<number>) => Float64Array | undefined;

export function qFitter(blocks: readonly BlockSums[], { size, horizon, ridge }: FitOptions): QFitter {
  const gram = new Float64Array(size * size);
  const onward = new Float64Array(size * size);
  const rewarded = new Float64Array(size);
  const weights = new Float64Array((horizon + 1) * size);
  return (counts) => {
    for (const sum of [gram, onward, rewarded]) sum.fill(0);
    blocks.forEach((block, b) => {
      const count = counts[b]!;
      if (count === 0) return;
      addTimes(gram, block.gram, count);
      addTimes(onward, block.onward, count);
      addTimes(rewarded, block.rewarded, count);
    });
    // The first feature is the constant, so its square summed is the number of rows. It is not shrunk itself.
    const rows = gram[0]!;
    for (let i = 1; i < size; i++) gram[i * size + i]! += ridge * rows;
    if (!factorise(gram, size)) return undefined;
    // One step to go is worth A⁻¹·Φᵀ·r; each step more adds A⁻¹·Φᵀ·Ψ of the weights before. That product of matrices
    // costs as much as solving for each of a hundred steps would, but in an order that is several times as fast.
    solveFactorised(gram, size, rewarded);
    solveColumns(gram, size, onward);
    for (let h = 1; h <= horizon; h++) {
      weights.set(rewarded, h * size);
      addProductWith(onward, weights, { at: (h - 1) * size, bt: h * size, size });
    }
    return weights;
  };
}
