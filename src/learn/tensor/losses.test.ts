import { describe, expect, test } from "vitest";
import { expectClose, randomBlock } from "../../../test/oracle/harness.ts";
import { crossEntropy, meanOf, ordinal, scalarLosses } from "../../../test/oracle/losses.ts";
import { type Matrix, matrix, numericalGradient } from "../../../test/oracle/matrix.ts";
import { seededRng } from "../../base/index.ts";
import { crossEntropyLoss, ordinalClass, ordinalLoss } from "./class-losses.ts";
import { referenceKernels } from "./kernel-sets/reference.ts";
import { hingeLoss, huberLoss, type LossOptions, l1Loss, mapeLoss, mseLoss } from "./losses.ts";
import { type Memory, NULL, type Ptr } from "./memory.ts";

const { memory } = referenceKernels();
const put = (values: ArrayLike<number>): Ptr => {
  const ptr = memory.alloc(values.length);
  memory.view(ptr, values.length).set(values);
  return ptr;
};

const rows = 6;
const cols = 4;
const rng = seededRng(11);
const prediction = randomBlock(rows * cols, rng).map((x) => 2 * x);
const target = randomBlock(rows * cols, rng).map((x) => x + Math.sign(x));
const signs = target.map(Math.sign);
const labels = Float32Array.of(0, 3, 1, 2, 3, 1);
const weights = Float32Array.from({ length: rows }, () => 0.5 + rng.next());

type Loss = (memory: Memory, options: LossOptions) => number;
interface Case {
  readonly loss: Loss;
  readonly target: Float32Array;
  readonly oracle: (p: Matrix, weights?: readonly number[]) => number;
}
const scalar = (loss: Loss, f: (p: number, t: number) => number, to = target): Case => ({
  loss,
  target: to,
  oracle: (p, w) => meanOf(p, matrix(to, rows, cols), { loss: f, weights: w }),
});
const classWeights = Float32Array.of(0.5, 1, 2, 4);
const cases: Record<string, Case> = {
  "mean squared error": scalar(mseLoss, scalarLosses.mse),
  "mean absolute error": scalar(l1Loss, scalarLosses.l1),
  "mean absolute percentage error": scalar(mapeLoss, scalarLosses.mape),
  Huber: scalar(huberLoss, scalarLosses.huber),
  hinge: scalar(hingeLoss, scalarLosses.hinge, signs),
  "cross-entropy": {
    loss: crossEntropyLoss,
    target: labels,
    oracle: (p, w) => crossEntropy(p, [...labels], { weights: w }),
  },
  "cross-entropy with class weights": {
    loss: (m, options) => crossEntropyLoss(m, { ...options, classWeights }),
    target: labels,
    oracle: (p, w) => crossEntropy(p, [...labels], { weights: w, classWeights: [...classWeights] }),
  },
  ordinal: { loss: ordinalLoss, target: labels, oracle: (p, w) => ordinal(p, [...labels], w) },
};

describe.each(Object.entries(cases))("%s", (_name, { loss, target: to, oracle }) => {
  const base = { prediction: put(prediction), target: put(to), rows, cols };

  test("is the double-precision value, and its gradient the numerical one", () => {
    const gradient = memory.alloc(rows * cols);
    const value = loss(memory, { ...base, gradient });
    expect(value).toBeCloseTo(oracle(matrix(prediction, rows, cols)), 6);
    const wanted = numericalGradient((p) => oracle(matrix(p, rows, cols)), prediction);
    expectClose(memory.view(gradient, rows * cols), wanted, 1e-7);
    expect(loss(memory, { ...base, gradient: NULL })).toBe(value);
  });

  test("weighs rows", () => {
    const gradient = memory.alloc(rows * cols);
    const value = loss(memory, { ...base, gradient, weights: put(weights) });
    expect(value).toBeCloseTo(oracle(matrix(prediction, rows, cols), [...weights]), 6);
    const wanted = numericalGradient((p) => oracle(matrix(p, rows, cols), [...weights]), prediction);
    expectClose(memory.view(gradient, rows * cols), wanted, 1e-7);
  });

  test("may write the gradient over the prediction", () => {
    const gradient = memory.alloc(rows * cols);
    loss(memory, { ...base, gradient });
    const both = put(prediction);
    loss(memory, { ...base, prediction: both, gradient: both });
    expect(memory.view(both, rows * cols)).toEqual(memory.view(gradient, rows * cols));
  });
});

describe("losses by hand", () => {
  const two = (loss: Loss, p: number[], t: number[]) => {
    const gradient = memory.alloc(2);
    const value = loss(memory, { prediction: put(p), target: put(t), gradient, rows: 1, cols: p.length });
    return { value, gradient: [...memory.view(gradient, p.length)] };
  };

  test("of errors 3 and −0.5", () => {
    expect(two(mseLoss, [4, 0.5], [1, 1])).toEqual({ value: 4.625, gradient: [3, -0.5] });
    expect(two(l1Loss, [4, 0.5], [1, 1])).toEqual({ value: 1.75, gradient: [0.5, -0.5] });
    expect(two(mapeLoss, [5, 1.5], [2, 2])).toEqual({ value: 0.875, gradient: [0.25, -0.25] });
    // Huber: 3 − ½ beyond delta, ½·0.25 within.
    expect(two(huberLoss, [4, 0.5], [1, 1])).toEqual({ value: 1.3125, gradient: [0.5, -0.25] });
    expect(two((m, o) => huberLoss(m, { ...o, delta: 2 }), [4, 0.5], [1, 1]).value).toBe((2 * (3 - 1) + 0.125) / 2);
  });

  test("hinge asks for a margin and then no more", () => {
    expect(two(hingeLoss, [0.25, 3], [1, 1])).toEqual({ value: 0.375, gradient: [-0.5, 0] });
    expect(two(hingeLoss, [1, -1], [1, -1])).toEqual({ value: 0, gradient: [0, 0] });
    expect(two(hingeLoss, [0.25, 3], [-1, -1])).toEqual({ value: 2.625, gradient: [0.5, 0.5] });
  });

  test("percentage errors of tiny targets are held by the floor", () => {
    expect(two((m, o) => mapeLoss(m, { ...o, floor: 0.5 }), [1, 1], [0, 0])).toEqual({ value: 2, gradient: [1, 1] });
  });

  test("cross-entropy of equal logits is log of the number of classes, of huge ones still finite", () => {
    const gradient = memory.alloc(4);
    const options = { target: put([2]), gradient, rows: 1, cols: 4 };
    expect(crossEntropyLoss(memory, { ...options, prediction: put([7, 7, 7, 7]) })).toBeCloseTo(Math.log(4), 12);
    expect([...memory.view(gradient, 4)]).toEqual([0.25, 0.25, -0.75, 0.25]);
    expect(crossEntropyLoss(memory, { ...options, prediction: put([1e4, 0, 0, 0]) })).toBe(1e4);
  });

  test("the ordinal loss grows with the distance, and its class counts thresholds passed", () => {
    const at = (label: number) =>
      ordinalLoss(memory, { prediction: put([8, -8, -8, -8]), target: put([label]), gradient: NULL, rows: 1, cols: 4 });
    // Sure of class 1: being at 2 costs one wrong threshold, at 4 three.
    expect(at(1)).toBeLessThan(0.01);
    expect(at(2)).toBeCloseTo(8, 1);
    expect(at(4)).toBeCloseTo(24, 1);
    const logits = put([-1, -2, 3, 2, 1, -4]);
    expect(ordinalClass(memory, { prediction: logits, cols: 3, row: 0 })).toBe(1);
    expect(ordinalClass(memory, { prediction: logits, cols: 3, row: 1 })).toBe(2);
    const far = ordinalLoss(memory, { prediction: put([1e4]), target: put([0]), gradient: NULL, rows: 1, cols: 1 });
    expect(far).toBe(1e4);
  });

  test.each([4, -1, 0.5, Number.NaN])("class %d of four is refused with a code", (label) => {
    const options = { prediction: put([0, 0, 0, 0]), target: put([label]), gradient: NULL, rows: 1 };
    expect(() => crossEntropyLoss(memory, { ...options, cols: 4 })).toThrow(/classes are whole numbers from 0 to 3/);
    expect(() => ordinalLoss(memory, { ...options, cols: 3 })).toThrow(/classes are whole numbers from 0 to 3/);
  });
});
