import { expect, test } from "vitest";
import { CodedError } from "../../../base/index.ts";
import { loadFromCounts, meanRate, rateAt, scaleLoad } from "./load.ts";

test("counts per minute become requests per second, and begin again after the last minute", () => {
  const load = loadFromCounts([60, 0, 120], { id: "three minutes" });
  expect([...load.perMinute]).toEqual([1, 0, 2]);
  expect(meanRate(load)).toBe(1);
  expect([0, 59_999, 60_000, 120_000, 180_000, 300_001].map((at) => rateAt(load, at))).toEqual([1, 1, 0, 2, 1, 2]);
});

test("a high load has more than 1e5 requests a day, whatever part of the day was recorded", () => {
  const perDay = (requests: number, minutes: number) =>
    loadFromCounts(Array<number>(minutes).fill(requests / 1_440), { id: "even" }).level;
  expect([perDay(100_001, 1_440), perDay(99_999, 1_440), perDay(100_001, 480), perDay(99_999, 480)]).toEqual([
    "high",
    "low",
    "high",
    "low",
  ]);
});

test("scaling changes the mean, not the shape, the level or the burstiness", () => {
  const load = loadFromCounts([60, 0, 120], { id: "three minutes", dispersion: 2 });
  const scaled = scaleLoad(load, 10);
  expect([...scaled.perMinute]).toEqual([10, 0, 20]);
  expect(scaled).toMatchObject({ id: "three minutes", level: "low", dispersion: 2 });
  expect([...scaleLoad(loadFromCounts([0, 0], { id: "silent" }), 10).perMinute]).toEqual([0, 0]);
});

test.each([
  [[], /has no minutes/],
  [[1, -2], /-2 in minute 1/],
  [[Number.NaN], /NaN in minute 0/],
])("counts that are none are refused: %j", (counts, message) => {
  expect(() => loadFromCounts(counts, { id: "bad" })).toThrow(CodedError);
  expect(() => loadFromCounts(counts, { id: "bad" })).toThrow(message);
});
