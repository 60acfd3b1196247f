import { expect, test } from "vitest";
import { interquartileMean, mean, median, quantile, sum, variance } from "./descriptive.ts";

// Expected values: numpy.quantile, numpy.var(ddof=1) and scipy.stats.trim_mean(…, 0.25) of NumPy 2 and SciPy 1.17.
const values = [3.2, -1.5, 7.7, 0.4, 12.9, 5.1, 2.2, 8.8, -0.3, 6.6];

test("the interquartile mean drops a quarter at each end, rounded down", () => {
  expect(interquartileMean(values)).toBeCloseTo(4.2, 12);
  expect(interquartileMean(values.slice(0, 7))).toBeCloseTo(3.72, 12);
});

test("the interquartile mean of fewer than four values is their mean", () => {
  expect(interquartileMean(values.slice(0, 3))).toBeCloseTo(3.1333333333333333, 12);
});

test("the interquartile mean ignores an outlier that moves the mean", () => {
  const calm = [1, 2, 3, 4, 5, 6, 7, 8];
  expect(interquartileMean([...calm.slice(0, 7), 1e9])).toBe(interquartileMean(calm));
});

test("quantiles interpolate between order statistics", () => {
  expect(quantile(values, 0)).toBe(-1.5);
  expect(quantile(values, 0.1)).toBeCloseTo(-0.42, 12);
  expect(quantile(values, 0.25)).toBeCloseTo(0.85, 12);
  expect(median(values)).toBeCloseTo(4.15, 12);
  expect(quantile(values, 0.9)).toBeCloseTo(9.21, 12);
  expect(quantile(values, 1)).toBe(12.9);
});

test("the variance divides by one less than the count", () => {
  expect(variance(values)).toBeCloseTo(20.765444444444444, 12);
  expect(variance([7])).toBe(0);
});

test("a sum keeps small terms beside a large one that cancels", () => {
  expect(sum([1e16, 1, -1e16])).toBe(1);
  expect(sum([1, 1e100, 1, -1e100])).toBe(2);
});

test("summaries leave their input in its order", () => {
  const input = [3, 1, 2, 4];
  interquartileMean(input);
  quantile(input, 0.5);
  expect(input).toEqual([3, 1, 2, 4]);
});

test("an empty sample or a value that is not finite is refused", () => {
  expect(() => mean([])).toThrow("needs at least one value");
  expect(() => interquartileMean([1, Number.NaN])).toThrow("needs finite values, got NaN");
  expect(() => quantile([1], 1.5)).toThrow("from 0 to 1");
});
