import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { functionProfiles } from "./functions.ts";
import { localInvokers } from "./invokers.ts";
import { type InvocationPattern, patternProblem, rateOfStep, recordedPattern } from "./patterns.ts";

const rates = (pattern: InvocationPattern, steps: number) =>
  Array.from({ length: steps }, (_, step) => rateOfStep(pattern, seededRng(1_000), step));
const mean = (values: ArrayLike<number>) => Array.from(values).reduce((sum, x) => sum + x, 0) / values.length;

test("a step's rate depends on the step only, not on what was asked before", () => {
  const pattern: InvocationPattern = { kind: "poisson", most: 10 };
  const inOrder = rates(pattern, 20);
  expect(rateOfStep(pattern, seededRng(1_000), 13)).toBe(inOrder[13]);
  expect(new Set(inOrder).size).toBe(20);
});

test("recorded rates are drawn uniformly, with the silent minutes", () => {
  const drawn = rates({ kind: "recorded", rates: [0, 0, 0, 8] }, 4_000);
  expect(mean(drawn)).toBeGreaterThan(1.8);
  expect(mean(drawn)).toBeLessThan(2.2);
  expect(new Set(drawn)).toEqual(new Set([0, 8]));
});

test("flat stays, fluctuating goes between its bounds and comes back after its period", () => {
  expect(new Set(rates({ kind: "flat", rate: 3 }, 50))).toEqual(new Set([3]));
  const drawn = rates({ kind: "fluctuating", low: 2, high: 6, period: 20 }, 41);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(2);
  expect(Math.max(...drawn)).toBeLessThanOrEqual(6);
  expect(mean(drawn.slice(0, 20))).toBeCloseTo(4, 9);
  expect(drawn[40]).toBeCloseTo(drawn[0] as number, 9);
});

test("recorded minutes give the shape, the cluster the scale: 0.3 of 112 cores among 12 functions is 2.8 each", () => {
  const records = [{ counts: [20, 0, 40] }, { counts: [9, 9, 9] }];
  const pattern = recordedPattern(records, functionProfiles.primes, { invokers: localInvokers(), functions: 12 });
  if (pattern.kind !== "recorded") throw new Error("not recorded");
  // The second is called less than ten times a minute. Of the first, mean 20: 2.8 cores / 0.72 s = 3.889 calls per second.
  expect(Array.from(pattern.rates)).toEqual([3.8889, 0, 7.7778].map((rate) => expect.closeTo(rate, 3)));
});

test("a minute that one machine could not serve is cut to 70 % of its cores", () => {
  const counts = [...new Array<number>(999).fill(10), 100_000];
  const pattern = recordedPattern([{ counts }], functionProfiles.primes, { invokers: localInvokers(), functions: 1 });
  if (pattern.kind !== "recorded") throw new Error("not recorded");
  expect(pattern.rates[999]).toBeCloseTo((0.7 * 28) / 0.72, 9);
});

test.each<[InvocationPattern, string]>([
  [{ kind: "recorded", rates: [] }, "no recorded rates"],
  [{ kind: "recorded", rates: [1, Number.NaN] }, "no rate"],
  [{ kind: "flat", rate: -1 }, "-1"],
  [{ kind: "fluctuating", low: 0, high: 1, period: 0 }, "period of 0"],
  [{ kind: "poisson", most: Number.POSITIVE_INFINITY }, "Infinity"],
])("%j is refused", (pattern, why) => {
  expect(patternProblem(pattern)).toContain(why);
});
