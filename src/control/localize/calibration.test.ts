import { describe, expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { Calibration, fitSigmoid, probabilityAt } from "./calibration.ts";

describe("Platt's sigmoid", () => {
  test("is the one that scikit-learn fits", () => {
    // scikit-learn 1.9.1, sklearn.calibration._SigmoidCalibration().fit(values, labels): a_ and b_.
    const values = [
      ...[0.43, -1.11, 0.7, 2.5, 0.42, -0.09, -0.39, -0.25, 0.5, -1.98, 0.7, -1.08],
      ...[-0.69, 0.64, 0.7, -1.01, -0.47, -0.06, -0.99, -2.58, -0.15, 0.09, -0.38],
    ];
    const { slope, offset } = fitSigmoid(
      values,
      values.map((_, k) => k < 9),
    );
    expect(slope).toBeCloseTo(-0.7881684609, 4);
    expect(offset).toBeCloseTo(0.3315991766, 4);
  });

  test("values that say nothing leave the share of culprits", () => {
    const { slope, offset } = fitSigmoid([1, 1, 1, 1], [true, false, false, false]);
    // Targets are drawn in: one of 2/3 and three of 1/5.
    expect(probabilityAt({ slope, offset }, 1)).toBeCloseTo((2 / 3 + 3 / 5) / 4, 6);
  });

  test("a set that is parted without error does not become a step", () => {
    const { slope, offset } = fitSigmoid([-2, -1, 1, 2], [false, false, true, true]);
    expect(probabilityAt({ slope, offset }, 1)).toBeGreaterThan(0.6);
    expect(probabilityAt({ slope, offset }, 1)).toBeLessThan(0.9);
  });
});

test("scores mean what they say: of those near 0.7, about seven in ten are culprits", () => {
  const rng = seededRng(11);
  const calibration = new Calibration();
  // Truth: P(culprit | v) = 1 / (1 + exp(−3v + 1)).
  const draw = () => {
    const value = 2 * rng.normal();
    return { value, isCulprit: rng.next() < 1 / (1 + Math.exp(-3 * value + 1)) };
  };
  for (let k = 0; k < 3_000; k++) {
    const { value, isCulprit } = draw();
    calibration.add(value, isCulprit);
  }
  const near = Array.from({ length: 20_000 }, draw).filter(
    ({ value }) => Math.abs(calibration.probability(value) - 0.7) < 0.1,
  );
  const share = near.filter(({ isCulprit }) => isCulprit).length / near.length;
  expect(near.length).toBeGreaterThan(200);
  expect(Math.abs(share - 0.7)).toBeLessThan(0.06);
});

test("of many pairs the last ones count", () => {
  const calibration = new Calibration(100);
  for (let k = 0; k < 300; k++) calibration.add(k % 2 === 0 ? 1 : -1, k % 2 === 0);
  expect(calibration.probability(1)).toBeGreaterThan(0.9);
  for (let k = 0; k < 100; k++) calibration.add(k % 2 === 0 ? 1 : -1, k % 2 === 1);
  expect(calibration.probability(1)).toBeLessThan(0.1);
});

test("with a handful of labels there is an order and no more", () => {
  const calibration = new Calibration();
  calibration.add(3, true);
  expect(calibration.probability(0)).toBe(0.5);
  expect(calibration.probability(1)).toBeGreaterThan(calibration.probability(0.5));
});
