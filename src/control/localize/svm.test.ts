import { describe, expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { fourierFeatures } from "../../learn/rl/index.ts";
import { HingeSgd, IncrementalSvm } from "./svm.ts";

/**
 * scikit-learn 1.9.1, SGDClassifier(loss="hinge", penalty="l2", alpha=0.01, fit_intercept=False, shuffle=False,
 * learning_rate="invscaling", eta0=0.5, power_t=0.25, average=…).partial_fit(rows, labels, sample_weight=weights), once.
 */
const oracle = {
  rows: [
    ...[
      [1.69, -0.47, 0.03],
      [0.41, -0.79, 0],
      [0, -1.75, 1.02],
      [0.6, -0.63, -0.17],
      [0.51, -0.26, -0.24],
    ],
    ...[
      [-1.45, 0.55, 0.12],
      [0.27, -1.53, 1.65],
      [0.15, -0.39, 2.03],
      [-0.05, -1.45, -0.41],
      [-2.29, 1.05, -0.42],
    ],
    ...[
      [-0.74, 1.07, -1.65],
      [0.54, -2.06, -0.66],
    ],
  ],
  weights: [1.7, 1.4, 1.5, 1.7, 1.4, 1.9, 1.2, 1.7, 1.4, 1.4, 1.6, 1.5],
  labels: [1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1],
  last: [1.6755363271, -1.61253454868, 0.874894285256],
  averaged: [1.65199661991, -1.08757103696, 0.395113630636],
};

describe("the linear machine", () => {
  test("takes the very steps of scikit-learn's", () => {
    const machine = new HingeSgd({ size: 3, rate: 0.5, power: 0.25, penalty: 0.01 });
    oracle.rows.forEach((row, k) => {
      machine.update(Float64Array.from(row), oracle.labels[k] === 1, oracle.weights[k]);
    });
    oracle.last.forEach((value, k) => {
      expect(machine.weights[k]).toBeCloseTo(value, 10);
    });
    oracle.averaged.forEach((value, k) => {
      expect(machine.averaged[k]).toBeCloseTo(value, 10);
    });
  });

  test("one step by hand", () => {
    const machine = new HingeSgd({ size: 2, rate: 0.5, power: 0.5, penalty: 0.1 });
    machine.update(Float64Array.of(2, -1), true);
    expect([...machine.weights]).toEqual([1, -0.5]);
    // On the right side by 2.5: nothing pulls, the penalty shrinks by 1 − 0.1 · 0.5 / √2.
    machine.update(Float64Array.of(2, -1), true);
    const shrink = 1 - 0.05 / Math.SQRT2;
    expect(machine.weights[0]).toBeCloseTo(shrink, 12);
    expect(machine.averaged[0]).toBeCloseTo((1 + shrink) / 2, 12);
  });
});

test("products of the features are the kernel: the mean of three Gaussians of half, once and twice the usual distance", () => {
  const count = 60_000;
  const map = fourierFeatures({ seen: 2, actions: 0, count, rng: seededRng(3) });
  const row = (x: readonly number[]) => map.of(Float64Array.from(x), new Float64Array(0)).subarray(3);
  for (const [x, y] of [
    [
      [0, 0],
      [0, 0],
    ],
    [
      [0.3, -1],
      [1, 0.5],
    ],
    [
      [2, 2],
      [-1, 0],
    ],
  ] as const) {
    const [a, b] = [row(x), row(y)];
    let product = 0;
    for (let k = 0; k < count; k++) product += a[k]! * b[k]!;
    const squared = (x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2;
    const kernel = [0.5, 1, 2].map((scale) => Math.exp(-squared / (2 * (2 * scale) ** 2)));
    expect(product / count).toBeCloseTo((kernel[0]! + kernel[1]! + kernel[2]!) / 3, 1.7);
  }
});

/** Inside and outside of a circle of radius 1.2, with nothing in between: no line parts them. */
function ring(count: number, seed: number) {
  const rng = seededRng(seed);
  return Array.from({ length: count }, (_, k) => {
    const isInside = k % 4 === 0;
    const radius = isInside ? rng.next() : 1.5 + rng.next();
    const angle = 2 * Math.PI * rng.next();
    return { at: Float64Array.of(radius * Math.cos(angle), radius * Math.sin(angle)), isInside };
  });
}

describe("the incremental machine", () => {
  const errorsOf = (svm: IncrementalSvm) =>
    ring(400, 8).filter(({ at, isInside }) => svm.decide(at) > 0 !== isInside).length;

  test("parts what no line parts, having seen each sample once", () => {
    const svm = new IncrementalSvm({ inputs: 2, rng: seededRng(1) });
    for (const { at, isInside } of ring(1_500, 7)) svm.learn(at, isInside);
    // A quarter is inside: saying so of nobody is wrong 100 times.
    expect(errorsOf(svm)).toBeLessThan(12);
  });

  test("follows when what is a culprit changes", () => {
    const svm = new IncrementalSvm({ inputs: 2, rng: seededRng(1) });
    for (const { at, isInside } of ring(300, 7)) svm.learn(at, !isInside);
    expect(errorsOf(svm)).toBeGreaterThan(380);
    for (const { at, isInside } of ring(6_000, 9)) svm.learn(at, isInside);
    expect(errorsOf(svm)).toBeLessThan(40);
  });

  test("is the same for the same seed and samples", () => {
    const [a, b] = [0, 1].map(() => {
      const svm = new IncrementalSvm({ inputs: 2, rng: seededRng(5) });
      for (const { at, isInside } of ring(100, 7)) svm.learn(at, isInside);
      return svm.decide(Float64Array.of(0.2, 0.1));
    });
    expect(a).toBe(b);
  });
});
