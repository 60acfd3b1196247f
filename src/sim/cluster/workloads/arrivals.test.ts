import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { arrivals, DISPERSION_SPAN } from "./arrivals.ts";
import type { Load } from "./load.ts";

const HOUR = 3_600_000;

const load = (perMinute: readonly number[], dispersion: number): Load => ({
  id: "by hand",
  level: "low",
  perMinute: Float64Array.from(perMinute),
  dispersion,
});

function countsOf(given: Load, { hours, seed = 1_000 }: { hours: number; seed?: number }): Float64Array {
  const counts = new Float64Array((hours * HOUR) / DISPERSION_SPAN);
  const stream = arrivals(given, seededRng(seed));
  for (let at = stream.next(); at < hours * HOUR; at = stream.next()) {
    counts[Math.floor(at / DISPERSION_SPAN)] = (counts[Math.floor(at / DISPERSION_SPAN)] ?? 0) + 1;
  }
  return counts;
}

const average = (values: ArrayLike<number>) =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values: ArrayLike<number>) => {
  const mean = average(values);
  return average(Array.from(values, (value) => (value - mean) ** 2));
};

// 24,000 spans: the standard error of variance/mean is about √(2/24,000) = 1 % for Poisson, more for bursty counts.
test.each([
  [0.4, 1],
  [10, 1],
  [0.4, 3],
  [10, 1.5],
  [10, 6],
])("at %d requests/s, counts of 15 s have a variance of %d times their mean", (rate, dispersion) => {
  const counts = countsOf(load([rate], dispersion), { hours: 100 });
  // Four standard errors of a mean over that many requests.
  const slack = 4 * Math.sqrt(dispersion / (counts.length * 15 * rate));
  expect(Math.abs(average(counts) / (15 * rate) - 1)).toBeLessThan(slack);
  expect(variance(counts) / average(counts) / dispersion).toBeGreaterThan(0.93);
  expect(variance(counts) / average(counts) / dispersion).toBeLessThan(1.07);
});

test("a Poisson load's gaps are exponential: as wide as their mean", () => {
  const stream = arrivals(load([5], 1), seededRng(1_001));
  let last = 0;
  const gaps = Array.from({ length: 50_000 }, () => {
    const at = stream.next();
    const gap = at - last;
    last = at;
    return gap;
  });
  expect(average(gaps) / 200).toBeCloseTo(1, 1.5);
  expect(Math.sqrt(variance(gaps)) / 200).toBeCloseTo(1, 1.5);
});

test("arrivals follow the minutes: none in a silent one, and in proportion in the others", () => {
  const given = load([4, 0, 8], 2);
  const minutes = [0, 0, 0];
  const stream = arrivals(given, seededRng(1_002));
  const cycles = 400;
  for (let at = stream.next(); at < cycles * 180_000; at = stream.next()) {
    const minute = Math.floor(at / 60_000) % 3;
    minutes[minute] = (minutes[minute] ?? 0) + 1;
  }
  expect(minutes[1]).toBe(0);
  expect((minutes[0] ?? 0) / (cycles * 240)).toBeCloseTo(1, 1.5);
  expect((minutes[2] ?? 0) / (cycles * 480)).toBeCloseTo(1, 1.5);
});

test("arrivals begin where they are asked to, in order, and a stream repeats itself", () => {
  const given = load([3, 6], 2);
  const draw = () => {
    const stream = arrivals(given, seededRng(1_003), 90_500);
    return Array.from({ length: 500 }, () => stream.next());
  };
  const drawn = draw();
  expect(drawn[0]).toBeGreaterThan(90_500);
  expect(drawn.every((at, i) => i === 0 || at >= (drawn[i - 1] ?? 0))).toBe(true);
  expect(draw()).toEqual(drawn);
});

test("a load without requests never has an arrival", () => {
  expect(arrivals(load([0, 0], 1.5), seededRng(1)).next()).toBe(Number.POSITIVE_INFINITY);
});
