import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { performanceProfile, probabilityOfImprovement, winRate } from "./comparison.ts";

const ours = [
  [0.9, 1.1, 1.3, 0.7, 1.0, 1.2, 0.8, 1.4, 1.05, 0.95],
  [2.0, 2.4, 1.6, 2.2, 1.8, 2.1, 1.9, 2.3, 2.6, 1.4],
  [0.1, 0.4, 0.3, 0.2, 0.6, 0.5, 0.35, 0.25, 0.45, 0.15],
];
const theirs = [
  [0.8, 1.0, 1.1, 0.7, 0.9, 1.0, 0.75, 1.2, 0.85, 0.95],
  [2.1, 2.0, 1.5, 2.2, 1.7, 1.6, 1.9, 2.0, 2.3, 1.3],
  [0.2, 0.3, 0.3, 0.1, 0.4, 0.5, 0.3, 0.2, 0.35, 0.1],
];

test("the probability of improvement is the mean over tasks of U divided by the number of pairs", () => {
  // scipy.stats.mannwhitneyu per task, averaged: 0.63167; interval from 200,000 NumPy resamples: [0.485, 0.76833].
  const found = probabilityOfImprovement(ours, theirs, { rng: seededRng(1), resamples: 4000 });
  expect(found.estimate).toBeCloseTo(0.6316666666666667, 12);
  expect(Math.abs(found.lo - 0.485)).toBeLessThan(0.015);
  expect(Math.abs(found.hi - 0.76833)).toBeLessThan(0.015);
});

test("a method that always wins improves for sure, and one compared with itself by a coin's toss", () => {
  expect(winRate([5, 6], [1, 2, 3])).toBe(1);
  expect(winRate([1, 2, 3], [1, 2, 3])).toBe(0.5);
});

test("a performance profile gives the share of runs above each threshold and never rises", () => {
  const profile = performanceProfile(ours, [0.3, 1, 2], { rng: seededRng(2), resamples: 500 });
  // By counting: 25, 15 and 5 of 30 runs.
  expect(profile.map((point) => point.estimate)).toEqual([
    expect.closeTo(25 / 30, 12),
    expect.closeTo(15 / 30, 12),
    expect.closeTo(5 / 30, 12),
  ]);
  for (let i = 1; i < profile.length; i++) {
    expect(profile[i]?.lo).toBeLessThanOrEqual(profile[i - 1]?.lo as number);
    expect(profile[i]?.hi).toBeLessThanOrEqual(profile[i - 1]?.hi as number);
  }
});

test("methods measured on different numbers of tasks are refused", () => {
  expect(() => probabilityOfImprovement(ours, theirs.slice(1), { rng: seededRng(3) })).toThrow("3 and 2 tasks");
});
