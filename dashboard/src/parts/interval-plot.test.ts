import { expect, test } from "vitest";
import { scaleOf } from "./interval-plot.tsx";

const ours = (lo: number, mean: number, hi: number) => ({ lo, mean, hi, n: 10, unit: "%" });
const paper = (low: number, high = low) => ({ low, high, unit: "%", where: "Table 1" });

test("the scale spans our interval and the paper's value", () => {
  expect(scaleOf(ours(-69, -15, 13), paper(3.6))).toEqual({ low: -69, high: 13 });
  expect(scaleOf(ours(-5, 1, 2), paper(40, 60))).toEqual({ low: -5, high: 60 });
});

test("zero is part of it where it is near, and not where it would press everything into a corner", () => {
  expect(scaleOf(ours(0.8, 1, 1.3), paper(3.1))).toEqual({ low: 0, high: 3.1 });
  expect(scaleOf(ours(-9, -6, -4), null)).toEqual({ low: -9, high: 0 });
  expect(scaleOf(ours(495, 498, 500), paper(485, 500))).toEqual({ low: 485, high: 500 });
});
