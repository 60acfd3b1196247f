/**
 * From a decision value to a probability: Platt's sigmoid, fitted on values that were decided before their labels were
 * learned (Platt 1999; the fit of Lin, Lin and Weng 2007 by Newton's method).
 * Owns: the sigmoid, its fit, and the last pairs it is fitted on. Not here: the decision values (svm.ts).
 */

export interface Sigmoid {
  /** P(culprit | value) = 1 / (1 + exp(slope · value + offset)). */
  readonly slope: number;
  readonly offset: number;
}

export const probabilityAt = ({ slope, offset }: Sigmoid, value: number): number =>
  1 / (1 + Math.exp(Math.min(700, Math.max(-700, slope * value + offset))));

const MOST_ROUNDS = 100;
const RIDGE = 1e-12;
const LEAST_STEP = 1e-10;
const CONVERGED = 1e-9;

/**
 * Most likely parameters, with targets drawn in from 0 and 1 by Platt's rule, so that a separable set does not make the
 * sigmoid a step.
 */
export function fitSigmoid(values: ArrayLike<number>, isPositive: ArrayLike<boolean | number>): Sigmoid {
  const count = values.length;
  let positives = 0;
  for (let k = 0; k < count; k++) if (isPositive[k]) positives += 1;
  const negatives = count - positives;
  const [high, low] = [(positives + 1) / (positives + 2), 1 / (negatives + 2)];
  let slope = 0;
  let offset = Math.log((negatives + 1) / (positives + 1));
  const targetOf = (k: number): number => (isPositive[k] ? high : low);
  const lossAt = (a: number, b: number): number => {
    let loss = 0;
    for (let k = 0; k < count; k++) {
      const at = a * values[k]! + b;
      loss +=
        at >= 0 ? targetOf(k) * at + Math.log1p(Math.exp(-at)) : (targetOf(k) - 1) * at + Math.log1p(Math.exp(at));
    }
    return loss;
  };
  let loss = lossAt(slope, offset);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let [h11, h22, h21, g1, g2] = [RIDGE, RIDGE, 0, 0, 0];
    for (let k = 0; k < count; k++) {
      const value = values[k]!;
      const p = probabilityAt({ slope, offset }, value);
      const curve = p * (1 - p);
      h11 += value * value * curve;
      h22 += curve;
      h21 += value * curve;
      const pull = targetOf(k) - p;
      g1 += value * pull;
      g2 += pull;
    }
    if (Math.abs(g1) < CONVERGED && Math.abs(g2) < CONVERGED) break;
    const determinant = h11 * h22 - h21 * h21;
    const da = -(h22 * g1 - h21 * g2) / determinant;
    const db = -(-h21 * g1 + h11 * g2) / determinant;
    const decline = g1 * da + g2 * db;
    let step = 1;
    for (; step >= LEAST_STEP; step /= 2) {
      const next = lossAt(slope + step * da, offset + step * db);
      if (next < loss + 1e-4 * step * decline) {
        slope += step * da;
        offset += step * db;
        loss = next;
        break;
      }
    }
    if (step < LEAST_STEP) break;
  }
  return { slope, offset };
}

/** So many of each class before a sigmoid says more than an order. */
const ENOUGH = 5;
/** Before that: a value of 1 is on the margin. */
const unfitted: Sigmoid = { slope: -2, offset: 0 };

/** The last pairs of value and label, and the sigmoid over them. */
export class Calibration {
  /** Two numbers a pair: value, label. */
  readonly pairs: Float64Array;
  readonly #most: number;
  count = 0;
  #fitted: Sigmoid | null = null;

  constructor(most = 4_000) {
    this.#most = most;
    this.pairs = new Float64Array(2 * most);
  }

  add(value: number, isPositive: boolean): void {
    const at = 2 * (this.count % this.#most);
    this.pairs[at] = value;
    this.pairs[at + 1] = isPositive ? 1 : 0;
    this.count += 1;
    this.#fitted = null;
  }

  /** After `pairs` was written: so many were added in all. */
  restore(count: number): void {
    this.count = count;
    this.#fitted = null;
  }

  probability(value: number): number {
    this.#fitted ??= this.#fit();
    return probabilityAt(this.#fitted, value);
  }

  #fit(): Sigmoid {
    const kept = Math.min(this.count, this.#most);
    const values = Float64Array.from({ length: kept }, (_, k) => this.pairs[2 * k]!);
    const labels = Float64Array.from({ length: kept }, (_, k) => this.pairs[2 * k + 1]!);
    const positives = labels.reduce((sum, label) => sum + label, 0);
    if (positives < ENOUGH || kept - positives < ENOUGH) return unfitted;
    return fitSigmoid(values, labels);
  }
}
