import { expect, test } from "vitest";
import { bySeed, curveOver, meanOver, percentLess, percentMore, timesAsMany, timesAsMuch } from "./compare.ts";

const pairs = [
  { numerator: 30, denominator: 10 },
  { numerator: 10, denominator: 10 },
];

test("a ratio is of the sums, and its interval is spanned by the seeds", () => {
  const { mean, lo, hi, n, unit } = timesAsMuch(pairs, { id: "one" });
  expect(mean).toBeCloseTo(2, 6);
  // Two seeds: both draws of the one or of the other happen in a quarter of the resamples each.
  expect(lo).toBeCloseTo(1, 6);
  expect(hi).toBeCloseTo(3, 6);
  expect({ n, unit }).toEqual({ n: 2, unit: "×" });
});

test("more and less are the same ratio, in percent, with ends exchanged", () => {
  const more = percentMore(pairs, { id: "one" });
  const less = percentLess(pairs, { id: "one" });
  expect(more.mean).toBeCloseTo(100, 6);
  expect(more.hi).toBeCloseTo(200, 6);
  expect(less.mean).toBeCloseTo(-100, 6);
  expect(less.lo).toBeCloseTo(-200, 6);
  expect(less.hi).toBeCloseTo(0, 6);
});

test("counts of zero on either side are no division by zero", () => {
  expect(timesAsMany([{ numerator: 9, denominator: 0 }], { id: "zero" }).mean).toBeCloseTo(10, 6);
  expect(timesAsMany([{ numerator: 0, denominator: 0 }], { id: "zero" }).mean).toBe(1);
  expect(timesAsMuch([{ numerator: 0, denominator: 0 }], { id: "zero" }).mean).toBe(1);
});

test("the same row has the same interval whatever else is estimated", () => {
  expect(timesAsMuch(pairs, { id: "a" })).toEqual(timesAsMuch(pairs, { id: "a" }));
  expect(meanOver([0, 1, 1, 1], { id: "a", unit: "of workloads" })).toMatchObject({ mean: 0.75, n: 4, hi: 1 });
});

test("results are grouped by seed, whatever their order", () => {
  const grouped = bySeed([
    { seed: 2, unit: "a", result: 20 },
    { seed: 1, unit: "a", result: 10 },
    { seed: 2, unit: "b", result: 21 },
  ]);
  expect(grouped.map((units) => [...units])).toEqual([
    [
      ["a", 20],
      ["b", 21],
    ],
    [["a", 10]],
  ]);
});

test("a curve has a point per whole block, as long as the shortest series", () => {
  const curve = curveOver(
    [
      [1, 3, 5, 7, 100],
      [3, 5, 7, 9],
    ],
    2,
  );
  expect(curve.x).toEqual([1, 3]);
  expect(curve.y).toEqual([3, 7]);
  expect(curve.lo[0]).toBe(2);
  expect(curve.hi[0]).toBe(4);
});
