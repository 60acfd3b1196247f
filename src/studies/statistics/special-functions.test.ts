import { expect, test } from "vitest";
import { logGamma, normalUpperTail, regularisedBeta, studentUpperTail } from "./special-functions.ts";

// Expected values: scipy 1.17 (stats.norm.sf, stats.t.sf, special.gammaln, special.betainc).
const relative = (found: number, expected: number) => Math.abs(found - expected) / Math.abs(expected);

test.each([
  [-3, 0.9986501019683699],
  [-0.5, 0.6914624612740131],
  [0, 0.5],
  [0.5, 0.3085375387259869],
  [1.959963984540054, 0.025],
  [2.5, 0.006209665325776132],
  [3, 0.0013498980316300933],
  [6, 9.865876450376946e-10],
  [10, 7.61985302416047e-24],
])("the normal upper tail at %d", (z, expected) => {
  expect(relative(normalUpperTail(z), expected)).toBeLessThan(1e-12);
});

test.each([
  [0, 3, 0.5],
  [1, 1, 0.25],
  [2.5, 4.7, 0.02879607967343366],
  [-1.3, 10, 0.8886170913965777],
  [5, 30, 1.16483427335039e-5],
  [12, 8, 1.0719333738443846e-6],
  [2, 1000, 0.02288517324662583],
])("Student's upper tail at %d with %d degrees of freedom", (t, degrees, expected) => {
  expect(relative(studentUpperTail(t, degrees), expected)).toBeLessThan(1e-11);
});

test.each([
  [0.1, 2.252712651734206],
  [0.5, 0.5723649429247],
  [2.5, 0.2846828704729192],
  [7, 6.579251212010101],
  [50.3, 145.73724807755252],
  [500, 2605.115850361734],
])("the logarithm of gamma at %d", (x, expected) => {
  expect(relative(logGamma(x), expected)).toBeLessThan(1e-12);
});

test.each([
  [0.4, 2, 3, 0.5248],
  [0.1, 0.5, 0.5, 0.20483276469913345],
  [0.95, 10, 0.5, 0.31715157546554495],
  [0.5, 30, 40, 0.8857998873233515],
])("the beta distribution's share below %d for (%d, %d)", (x, a, b, expected) => {
  expect(relative(regularisedBeta(x, a, b), expected)).toBeLessThan(1e-11);
});
