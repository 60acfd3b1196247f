import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { drawCounts, intervalOf, studentPoint } from "./intervals.ts";

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

test("an interval by hand: the spread of resamples, corrected for the number of blocks, times Student's point", () => {
  // Draws 9 and 11 have variance 2; of two blocks a resample shows half of it, so the deviation is 2.
  const { mean, lo, hi } = intervalOf(10.5, [9, 11], 2);
  expect(mean).toBe(10.5);
  expect(hi - mean).toBeCloseTo(12.706 * 2, 9);
  expect(mean - lo).toBeCloseTo(12.706 * 2, 9);
});

test("the interval of a mean holds the truth as often as it says", () => {
  const rng = seededRng(6);
  let held = 0;
  for (let trial = 0; trial < 200; trial++) {
    const sample = Array.from({ length: 8 }, () => rng.normal());
    const meanOf = (counts: Float64Array) => sample.reduce((sum, x, i) => sum + x * (counts[i] ?? 0), 0) / 8;
    const draws = Array.from({ length: 100 }, () => meanOf(drawCounts(8, rng)));
    const { lo, hi } = intervalOf(meanOf(new Float64Array(8).fill(1)), draws, 8);
    if (lo <= 0 && hi >= 0) held += 1;
  }
  // 95 % of 200 is 190, with a deviation of 3.
  expect(held).toBeGreaterThan(178);
  expect(held).toBeLessThan(200);
});
