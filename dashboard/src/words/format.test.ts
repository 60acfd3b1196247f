import { expect, test } from "vitest";
import { bytes, clock, cores, elapsed, latency, money, NOTHING, percent, points, relative } from "./format.ts";

test("quantities carry their units", () => {
  expect([latency(82.4), latency(3.14), latency(1240)]).toEqual(["82 ms", "3.1 ms", "1.24 s"]);
  expect([cores(2350), bytes(1.5 * 2 ** 30), bytes(300 * 2 ** 20), bytes(2 ** 30 - 1)]).toEqual([
    "2.35 cores",
    "1.5 GiB",
    "300 MiB",
    "1 GiB",
  ]);
  expect([money(0), money(0.0123), money(0.0999), money(4.5), money(1234)]).toEqual([
    "$0.00",
    "$0.012",
    "$0.10",
    "$4.50",
    "$1,234",
  ]);
});

test("a share that is not all is never shown as all", () => {
  expect([percent(1), percent(0.99999), percent(0.5)]).toEqual(["100 %", "99.9 %", "50.0 %"]);
});

test("differences have a sign, a real minus, and none at zero", () => {
  expect([points(0.031), points(-0.2), points(0.0001)]).toEqual(["+3.1 points", "−20.0 points", "±0 points"]);
  expect([relative(-0.315), relative(0)]).toEqual(["−31.5 %", "±0 %"]);
});

test("what is missing is a dash, not a zero", () => {
  expect([latency(null), percent(Number.NaN), money(undefined)]).toEqual([NOTHING, NOTHING, NOTHING]);
});

test("times are UTC and durations short", () => {
  expect(clock(Date.UTC(2026, 0, 1, 3, 4, 5))).toBe("03:04:05");
  expect([elapsed(4_000), elapsed(61_000), elapsed(7_500_000), elapsed(7_200_000)]).toEqual([
    "4 s",
    "1 min",
    "2 h 5 min",
    "2 h",
  ]);
});
