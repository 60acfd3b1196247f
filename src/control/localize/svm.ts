/**
 * An incremental support vector machine (3.2.3): a linear one on random Fourier features of an RBF kernel, hinge loss with
 * an L2 penalty, one step of gradient descent per sample, weights averaged over the steps (Polyak and Ruppert).
 * Owns: the decision value and its update. Not here: the features' meaning (features.ts), probabilities (calibration.ts).
 *
 * The step is scikit-learn's SGDClassifier's (loss hinge, learning rate invscaling, average), which a test holds it to.
 */
import type { Rng } from "../../base/index.ts";
import { type FeatureMap, fourierFeatures } from "../../learn/rl/index.ts";

export interface HingeOptions {
  readonly size: number;
  /** The first step; the t-th is this over t to the power. */
  readonly rate?: number;
  readonly power?: number;
  /** Weight of the penalty. */
  readonly penalty?: number;
}

/** A linear machine on rows of features. */
export class HingeSgd {
  readonly weights: Float64Array;
  /** Mean of the weights after every step so far: what decides. */
  readonly averaged: Float64Array;
  steps = 0;
  readonly #rate: number;
  readonly #power: number;
  readonly #penalty: number;

  constructor({ size, rate = 0.1, power = 0.25, penalty = 1e-4 }: HingeOptions) {
    this.weights = new Float64Array(size);
    this.averaged = new Float64Array(size);
    this.#rate = rate;
    this.#power = power;
    this.#penalty = penalty;
  }

  /** One sample; `weight` is how much it counts. */
  update(row: Float64Array, isPositive: boolean, weight = 1): void {
    const { weights, averaged } = this;
    this.steps += 1;
    const step = this.#rate / this.steps ** this.#power;
    const target = isPositive ? 1 : -1;
    const pull = target * dot(weights, row) < 1 ? step * target * weight : 0;
    const shrink = Math.max(0, 1 - step * this.#penalty);
    for (let k = 0; k < weights.length; k++) {
      weights[k] = weights[k]! * shrink + pull * row[k]!;
      averaged[k]! += (weights[k]! - averaged[k]!) / this.steps;
    }
  }

  /** Above 0: positive. */
  decide(row: Float64Array): number {
    return dot(this.averaged, row);
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

export interface SvmOptions {
  readonly inputs: number;
  /** Cosines of the kernel's approximation. */
  readonly cosines?: number;
  readonly rng: Rng;
}

const NO_ACTIONS = new Float64Array(0);

/** The machine on inputs of the order of one each. */
export class IncrementalSvm {
  readonly machine: HingeSgd;
  readonly #map: FeatureMap;
  readonly #scale: number;
  /** Samples so far, by class. */
  readonly counts = { positive: 0, negative: 0 };

  constructor({ inputs, cosines = 240, rng }: SvmOptions) {
    this.#map = fourierFeatures({ seen: inputs, actions: 0, count: cosines, rng });
    // A row's length stays of the order of one however many cosines there are, so that one rate of steps fits.
    this.#scale = 1 / Math.sqrt(1 + cosines / COSINES_PER_UNIT);
    this.machine = new HingeSgd({ size: this.#map.size });
  }

  decide(inputs: Float64Array): number {
    return this.machine.decide(this.#rowOf(inputs));
  }

  /**
   * One sample. Culprits are rare, one among dozens, so classes count alike: a sample weighs by how rare its kind has been,
   * within bounds, so that the very first ones are not everything.
   */
  learn(inputs: Float64Array, isPositive: boolean): void {
    const { counts } = this;
    if (isPositive) counts.positive += 1;
    else counts.negative += 1;
    const total = counts.positive + counts.negative;
    const own = isPositive ? counts.positive : counts.negative;
    this.machine.update(this.#rowOf(inputs), isPositive, Math.min(MOST_WEIGHT, total / (2 * own)));
  }

  #rowOf(inputs: Float64Array): Float64Array {
    const row = this.#map.of(inputs, NO_ACTIONS);
    for (let k = 0; k < row.length; k++) row[k]! *= this.#scale;
    return row;
  }
}

const COSINES_PER_UNIT = 8;
const MOST_WEIGHT = 10;
