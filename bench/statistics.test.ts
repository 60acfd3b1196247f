import { expect, test } from "vitest";
import { compareVectors, iterationsFor, median, summarise } from "./statistics.ts";

test("the median of an odd count is the middle value and of an even count the mean of the two middle ones", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 100])).toBe(3.5);
});

test("the median of nothing is refused", () => {
  expect(() => median([])).toThrow(RangeError);
});

test("a timing is per call: the best and the median of processor time, wall time beside it", () => {
  // Per call: cpu 10, 30, 20; wall 12, 90, 20; wall over cpu 1.2, 3, 1.
  const timing = summarise([
    { iterations: 10, cpuNs: 100, wallNs: 120 },
    { iterations: 1, cpuNs: 30, wallNs: 90 },
    { iterations: 2, cpuNs: 40, wallNs: 40 },
  ]);
  expect(timing).toEqual({ best: 10, median: 20, bestWall: 12, medianWall: 20, rounds: 3, crowding: 1.2 });
});

test("a round is filled by as many calls as fit, and by one when a call is longer than the round", () => {
  const probe = { iterations: 4, wallNs: 400, cpuNs: 400 };
  expect(iterationsFor(probe, 1_000)).toBe(10);
  expect(iterationsFor(probe, 10)).toBe(1);
});

test("two answers are compared by their largest difference", () => {
  const result = compareVectors(new Float32Array([1, -4, 2]), new Float32Array([1, -3.5, 2.25]));
  expect(result).toEqual({ difference: 0.5, magnitude: 4 });
});

test("an answer with NaN never agrees, also when both have it and a later element differs less", () => {
  const { difference } = compareVectors(new Float32Array([Number.NaN, 1]), new Float32Array([Number.NaN, 1.5]));
  expect(difference).toBe(Number.POSITIVE_INFINITY);
});

test("answers of different lengths are refused", () => {
  expect(() => compareVectors(new Float32Array(2), new Float32Array(3))).toThrow("2 and 3");
});
