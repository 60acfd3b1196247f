/**
 * The two multilayer perceptrons that the algorithms use, as layer lists.
 * Off-policy networks start as PyTorch starts a Linear (what CleanRL and SB3 use there); PPO's start orthogonal
 * ("The 37 Implementation Details of PPO", detail 2).
 */

import type { Activation, LayerSpec } from "../tensor/index.ts";
import { constant, dense, orthogonal } from "../tensor/index.ts";

export interface MlpShape {
  readonly inputs: number;
  readonly hidden: readonly number[];
  readonly outputs: number;
}

export function reluMlp({ inputs, hidden, outputs }: MlpShape, last: Activation): LayerSpec[] {
  const widths = [inputs, ...hidden];
  const layers = hidden.map((width, i) => dense(widths[i] ?? inputs, width, "relu"));
  return [...layers, dense(widths.at(-1) ?? inputs, outputs, last)];
}

/** Tanh layers with gain √2 and a last layer with the given gain; biases start at zero. */
export function orthogonalMlp({ inputs, hidden, outputs }: MlpShape, lastGain: number): LayerSpec[] {
  const widths = [inputs, ...hidden];
  const bias = constant(0);
  const layers = hidden.map((width, i) =>
    dense(widths[i] ?? inputs, width, { activation: "tanh", weight: orthogonal(Math.SQRT2), bias }),
  );
  return [...layers, dense(widths.at(-1) ?? inputs, outputs, { weight: orthogonal(lastGain), bias })];
}
