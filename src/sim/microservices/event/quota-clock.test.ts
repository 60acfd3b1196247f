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

test("periods are counted as cgroups count them: those in which something ran, and those in which the quota ran out", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 0.2 });
  const counted = () => [clock.periods, clock.throttledPeriods];
  // Nobody runs: no period.
  clock.advance(250);
  expect(counted()).toEqual([0, 0]);
  // 10 ms in the third period: within its 20.
  clock.set(1, 1);
  clock.advance(260);
  clock.set(0, 0);
  clock.advance(300);
  expect(counted()).toEqual([1, 0]);
  // From 300 to 650 without a break, in pieces: three whole periods throttled, the fourth is not over yet.
  clock.set(1, 1);
  for (const at of [310, 325, 399, 420, 500, 650]) clock.advance(at);
  expect(counted()).toEqual([4, 3]);
  clock.set(0, 0);
  clock.advance(1_000);
  expect(counted()).toEqual([5, 4]);
});

test("a burn of exactly the limit is not throttled, a little more is in every period", () => {
  const counted = (burn: number) => {
    const clock = new QuotaClock({ at: 0, phase: 100, limit: 0.3 });
    clock.set(1, burn);
    for (let at = 1; at <= 3_000; at++) clock.advance(at / 3);
    return [clock.periods, clock.throttledPeriods];
  };
  expect(counted(0.3)).toEqual([10, 0]);
  expect(counted(0.31)).toEqual([10, 10]);
});

test("the peak is the busiest period that ended since it was last taken", () => {
  const clock = new QuotaClock({ at: 0, phase: 100, limit: 2 });
  clock.set(1, 1);
  clock.advance(30);
  clock.set(1, 0.2);
  clock.advance(150);
  // 30 ms of one core and 70 of a fifth; the second period is not over.
  expect(clock.takePeak()).toBeCloseTo(0.44, 12);
  clock.set(1, 3);
  clock.advance(420);
  // 50 ms of a fifth and 50 of three cores are 1.6; then two whole periods at the limit.
  expect(clock.takePeak()).toBe(2);
  clock.set(0, 0);
  clock.advance(520);
  expect(clock.takePeak()).toBeCloseTo(0.6, 12);
  clock.advance(900);
  expect(clock.takePeak()).toBe(0);
});
