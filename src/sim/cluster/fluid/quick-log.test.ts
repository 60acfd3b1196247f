import fc from "fast-check";
import { expect, test } from "vitest";
import { quickLog } from "./quick-log.ts";

test("is the logarithm, to an eighth of the square of a table's step", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (value) => {
      expect(Math.abs(quickLog(value) - Math.log(value))).toBeLessThan(1 / 1_024 ** 2 / 8 + 1e-12);
    }),
  );
});

test("is exact where the table has an entry", () => {
  for (const value of [2 ** -20, 0.5, 1, 1.5, 2, 3, 1_024, 1_025, 2 ** 30])
    expect(quickLog(value)).toBeCloseTo(Math.log(value), 13);
});

test("never falls where its argument rises", () => {
  let last = quickLog(0.9);
  for (let value = 0.9; value < 4.2; value += 1 / 7_919) {
    expect(quickLog(value)).toBeGreaterThanOrEqual(last);
    last = quickLog(value);
  }
});
