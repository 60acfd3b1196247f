import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { intervalOf, studentPoint } from "./intervals.ts";

test("Student's 97.5 % points agree with the tables", () => {
  for (const [freedom, point] of [
    [1, 12.706],
    [2, 4.303],
    [4, 2.776],
    [9, 2.262],
    [49, 2.01],
  ] as const) {
    expect(studentPoint(freedom)).toBeCloseTo(point, 1);
  }
});

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const withoutEach = (values: readonly number[]) => values.map((_, i) => mean(values.toSpliced(i, 1)));

test("the interval of a mean by hand: Student's, s/√n times the 97.5 % point", () => {
  // 1, 2 and 6: mean 3, s² = 7.
  const { mean: middle, lo, hi } = intervalOf(3, withoutEach([1, 2, 6]));
  expect(middle).toBe(3);
  expect(hi - middle).toBeCloseTo(4.303 * Math.sqrt(7 / 3), 9);
  expect(middle - lo).toBeCloseTo(4.303 * Math.sqrt(7 / 3), 9);
});

test("a doubt adds to the standard error as its square", () => {
  // Leaving out either of two moves the estimate by 3: a standard error of √(2·9/2) = 3, and 3² + 4² = 5².
  const { hi } = intervalOf(10, [7, 13], 4);
  expect(hi - 10).toBeCloseTo(12.706 * 5, 9);
});

test("one block has no interval", () => {
  expect(intervalOf(1, [])).toEqual({ mean: 1, lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY });
});

test("the interval of a ratio of means holds the truth as often as it says", () => {
  const rng = seededRng(6);
  let held = 0;
  const ratioOf = (pairs: readonly (readonly [number, number])[]) =>
    mean(pairs.map(([a]) => a)) / mean(pairs.map(([, b]) => b));
  for (let trial = 0; trial < 400; trial++) {
    const pairs = Array.from({ length: 12 }, () => [2 + 0.5 * rng.normal(), 1 + 0.1 * rng.normal()] as const);
    const leftOut = pairs.map((_, i) => ratioOf(pairs.toSpliced(i, 1)));
    const { lo, hi } = intervalOf(ratioOf(pairs), leftOut);
    if (lo <= 2 && hi >= 2) held += 1;
  }
  // 95 % of 400 is 380, with a deviation of 4.4.
  expect(held).toBeGreaterThan(366);
  expect(held).toBeLessThan(394);
});
