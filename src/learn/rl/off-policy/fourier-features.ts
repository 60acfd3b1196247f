/**
 * Random Fourier features (Rahimi and Recht, 2007): a linear model on them is a smooth model of the inputs, and unlike a
 * network's its values stay bounded away from the data, which is what keeps a hundred backups from blowing up.
 * Owns: the map from (state, action) to features. Not here: the models fitted on them.
 */

import type { Rng } from "../../../base/index.ts";

export interface FeatureOptions {
  readonly seen: number;
  readonly actions: number;
  /** Cosines, besides the constant and the inputs themselves. */
  readonly count: number;
  readonly rng: Rng;
}

export interface FeatureMap {
  readonly size: number;
  /** [rows, size] of states [rows, seen] and actions [rows, actions]. */
  of(states: Float64Array, actions: Float64Array): Float64Array;
}

/** How many units of [−1, 1] weigh as much as one standard deviation of a state: actions have bounds, states have a spread. */
const ACTION_UNIT = 0.5;

/** Wave lengths of half, once and twice the usual distance of two inputs: fine and coarse structure side by side. */
const SCALES = [0.5, 1, 2];

export function fourierFeatures({ seen, actions, count, rng }: FeatureOptions): FeatureMap {
  const inputs = seen + actions;
  const size = 1 + inputs + count;
  const frequencies = new Float64Array(count * inputs);
  const phases = new Float64Array(count);
  // Two inputs with independent standard scores are about √(2·inputs) apart.
  const distance = Math.sqrt(2 * inputs);
  for (let c = 0; c < count; c++) {
    const wave = distance * SCALES[c % SCALES.length]!;
    for (let k = 0; k < inputs; k++) frequencies[c * inputs + k] = rng.normal() / wave;
    phases[c] = 2 * Math.PI * rng.next();
  }
  return {
    size,
    of(states, done) {
      const rows = states.length / seen;
      const out = new Float64Array(rows * size);
      for (let row = 0; row < rows; row++) {
        const at = row * size;
        out[at] = 1;
        for (let k = 0; k < seen; k++) out[at + 1 + k] = states[row * seen + k]!;
        for (let k = 0; k < actions; k++) out[at + 1 + seen + k] = done[row * actions + k]! / ACTION_UNIT;
        for (let c = 0; c < count; c++) {
          let angle = phases[c]!;
          for (let k = 0; k < inputs; k++) angle += frequencies[c * inputs + k]! * out[at + 1 + k]!;
          out[at + 1 + inputs + c] = Math.SQRT2 * Math.cos(angle);
        }
      }
      return out;
    },
  };
}
