/**
 * How far recorded actions speak for a policy: a Gaussian fitted to the behaviour, importance weights, and the weighted
 * mean of what a fitted Q got wrong.
 *
 * The policies here are deterministic and so, often, is the behaviour, and points have no densities: both are taken as
 * Gaussians. The behaviour's width is what its observations do not explain of its actions, and never less than a floor;
 * the policy's is a part of that. Weights of a whole episode's hundred steps would be all zero but one; a weight here is
 * the product over the last few steps, which suffices where the system forgets (arXiv:2110.12343).
 */

import { addProducts, dot, factorise, solveFactorised } from "./ridge.ts";
import type { StepTable } from "./step-table.ts";

export interface Behaviour {
  /** [rows, actions]: the action that was to be expected. */
  readonly mean: Float64Array;
  /** [actions]: how far actions lay around it, at least the floor. */
  readonly sigma: Float64Array;
}

/** Ridge regression of what was done on features [rows, size] of the state alone. */
export function fitBehaviour(
  { rows, actions, done }: StepTable,
  { features, size }: { readonly features: Float64Array; readonly size: number },
  { ridge, sigmaFloor }: { readonly ridge: number; readonly sigmaFloor: number },
): Behaviour {
  const gram = new Float64Array(size * size);
  const sums = Array.from({ length: actions }, () => new Float64Array(size));
  addProducts(gram, { a: features, b: features }, { from: 0, to: rows, size, part: "lower" });
  sums.forEach((sum, k) => {
    for (let row = 0; row < rows; row++) {
      const did = done[row * actions + k]!;
      for (let i = 0; i < size; i++) sum[i]! += features[row * size + i]! * did;
    }
  });
  for (let i = 1; i < size; i++) gram[i * size + i] = gram[i * size + i]! + ridge * rows;
  // The constant's own square is the number of rows, so the matrix is positive whatever was recorded.
  factorise(gram, size);
  const mean = new Float64Array(rows * actions);
  const sigma = new Float64Array(actions);
  sums.forEach((weights, k) => {
    solveFactorised(gram, size, weights);
    let squares = 0;
    for (let row = 0; row < rows; row++) {
      const expected = dot(features, weights, { at: row * size, size });
      mean[row * actions + k] = expected;
      squares += (done[row * actions + k]! - expected) ** 2 / rows;
    }
    sigma[k] = Math.max(Math.sqrt(squares), sigmaFloor);
  });
  return { mean, sigma };
}

/** log π(a)/μ(a) of one component: two normals, the policy's around what it would do, the behaviour's around what was to be expected. */
export function logRatio({ did, expected, sigma, would, width }: Ratio): number {
  return Math.log(sigma / width) + 0.5 * (((did - expected) / sigma) ** 2 - ((did - would) / width) ** 2);
}

interface Ratio {
  readonly did: number;
  readonly expected: number;
  readonly sigma: number;
  readonly would: number;
  readonly width: number;
}

export interface WeightOptions {
  /** Steps whose ratios are multiplied, the last one included. */
  readonly window: number;
  /** The most that one step's ratio may be, and the least its inverse. */
  readonly clip: number;
  /**
   * The volume of the policy's density as a share of the behaviour's, over all components together: less judges the
   * policy itself instead of one that is blurred like the behaviour, from fewer steps.
   */
  readonly policyWidth: number;
  readonly sigmaFloor: number;
}

/** The importance weight of every row: the product of the clipped ratios of the last `window` steps of its episode. */
export function importanceWeights(
  { starts, actions, done, wouldDo, rows }: StepTable,
  { mean, sigma }: Behaviour,
  { window, clip, policyWidth, sigmaFloor }: WeightOptions,
): Float64Array {
  const most = Math.log(clip);
  const share = policyWidth ** (1 / actions);
  const logs = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let k = 0; k < actions; k++) {
      const at = row * actions + k;
      const width = Math.max(share * sigma[k]!, sigmaFloor);
      sum += logRatio({ did: done[at]!, expected: mean[at]!, sigma: sigma[k]!, would: wouldDo[at]!, width });
    }
    logs[row] = Math.min(sum, most);
  }
  const weights = new Float64Array(rows);
  for (let e = 0; e + 1 < starts.length; e++) {
    for (let row = starts[e]!; row < starts[e + 1]!; row++) {
      let sum = 0;
      for (let k = Math.max(starts[e]!, row - window + 1); k <= row; k++) sum += logs[k]!;
      weights[row] = Math.exp(sum);
    }
  }
  return weights;
}

/**
 * How many equally weighted steps would say as much: (Σw)²/Σw², times the mean weight where that is below one. Ratios of
 * densities have mean one; a behaviour that is always equally far from the policy makes equal weights, all of them near
 * zero, and they say nothing.
 */
export function effectiveSteps(weights: Float64Array): number {
  let sum = 0;
  let squares = 0;
  for (const w of weights) {
    sum += w;
    squares += w * w;
  }
  return squares === 0 ? 0 : ((sum * sum) / squares) * Math.min(1, sum / weights.length);
}

/** The share of steps in which the policy would do what the behaviour never does: some component lies `reach` widths or more from its mean. */
export function shareOutside(
  { wouldDo, actions, rows }: Pick<StepTable, "wouldDo" | "actions" | "rows">,
  { mean, sigma }: Behaviour,
  reach: number,
): number {
  let outside = 0;
  for (let row = 0; row < rows; row++) {
    let farthest = 0;
    for (let k = 0; k < actions; k++) {
      const at = row * actions + k;
      farthest = Math.max(farthest, Math.abs(wouldDo[at]! - mean[at]!) / sigma[k]!);
    }
    if (farthest >= reach) outside += 1;
  }
  return outside / rows;
}
