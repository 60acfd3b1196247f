import { expect, test } from "vitest";
import { QuotaClock } from "./quota-clock.ts";

test("60 ms of CPU with a fifth of a core are throttled twice: 20 ms at once, then 20 ms in each of two periods", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 0.2 });
  clock.set(1, 1);
  expect(clock.timeOf(60)).toBeCloseTo(220, 9);
  clock.advance(150);
  expect(clock.virtual).toBeCloseTo(40, 9);
  expect(clock.timeOf(60)).toBeCloseTo(220, 9);
  clock.advance(220);
  expect(clock.virtual).toBeCloseTo(60, 9);
  expect(clock.used).toBeCloseTo(60, 9);
});

test("a stressor of three cores beside one request in a limit of one core leaves it a quarter of the period", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 1 });
  clock.set(1, 4);
  clock.advance(1_000);
  expect(clock.virtual).toBeCloseTo(250, 9);
  expect(clock.used).toBeCloseTo(1_000, 9);
});

test("a stressor alone burns the quota that the next request will miss", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 0.5 });
  clock.set(0, 1);
  clock.advance(60);
  clock.set(1, 2);
  // The quota of 50 ms is gone; 40 ms until the next period, in which 10 ms of work burn 20.
  expect(clock.timeOf(10)).toBeCloseTo(110, 9);
});

test("slow requests that burn little are not throttled", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 0.5 });
  clock.set(0.1, 0.05);
  clock.advance(1_000);
  expect(clock.virtual).toBeCloseTo(100, 9);
  expect(clock.timeOf(101)).toBeCloseTo(1_010, 9);
});
