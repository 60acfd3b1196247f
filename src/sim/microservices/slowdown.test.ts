import { expect, test } from "vitest";
import { missFactor } from "../cache-misses.ts";
import { type Profile, profiles } from "./calibration.ts";
import { noStress, type Slowdown, slowdownOf } from "./slowdown.ts";

const plenty = [1e6, 1e6, 1e6, 1e6, 1e6];
const slow = (
  profile: Profile,
  shares: readonly number[],
  { speed = 1, stress = noStress }: { speed?: number; stress?: ArrayLike<number> } = {},
): Slowdown => {
  const into = { base: 0, perRequest: 0, misses: 0 };
  slowdownOf({ profile, speed, shares, stress }, into);
  return into;
};
const half: Profile = {
  ...profiles.ideal,
  cpu: 0.5,
  memory: { share: 0.3, rate: 1_000 },
  io: { share: 0.2, rate: 100 },
  workingSet: 4,
};

test("with plenty of everything nothing slows down, whatever the profile", () => {
  for (const profile of Object.values(profiles)) {
    const { base, misses } = slow(profile, plenty);
    expect(base).toBeCloseTo(1, 12);
    expect(misses).toBe(1);
  }
});

test("a part grows by demand over share: a quarter of the memory bandwidth makes 0.3 of the time four times as long", () => {
  expect(slow(half, [1e6, 250, 1e6, 1e6, 1e6]).base).toBeCloseTo(0.5 + 4 * 0.3 + 0.2, 12);
});

test("two short resources add up", () => {
  expect(slow(half, [1e6, 500, 1e6, 50, 1e6]).base).toBeCloseTo(0.5 + 0.6 + 0.4, 12);
});

test("half the speed doubles the CPU part only", () => {
  expect(slow(half, plenty, { speed: 0.5 }).base).toBeCloseTo(1.5, 12);
});

test("many at once take the bytes of all over the share: throughput times bytes is the share", () => {
  const { perRequest } = slow(half, [1e6, 600, 1e6, 1e6, 1e6]);
  // Ten requests at 1 ms of isolated work each: done per ms = 10 / (10 · perRequest); each moves 0.3 ms · 1,000 MB/s.
  const perMs = 10 / (10 * perRequest);
  expect(perMs * 0.3 * 1_000).toBeCloseTo(600, 9);
});

test("a quarter of the working set doubles the misses, and they grow no further than with no cache at all", () => {
  expect(missFactor(1, 4)).toBeCloseTo(2, 12);
  expect(missFactor(4, 4)).toBe(1);
  expect(missFactor(9, 4)).toBe(1);
  expect(missFactor(0, 4)).toBeCloseTo(1 / 0.15, 12);
  expect(slow(half, [1e6, 1e6, 1, 1e6, 1e6]).base).toBeCloseTo(0.5 + 2 * 0.3 + 0.2, 12);
});

test("no share at all is slow, not forever", () => {
  expect(slow(half, [0, 0, 0, 0, 0]).base).toBeLessThan(3_000);
  expect(Number.isFinite(slow(half, [0, 0, 0, 0, 0]).perRequest)).toBe(true);
});

test("a stressor is more demand: three times the rate beside a request in a share of twice the rate doubles its part", () => {
  const { base, perRequest } = slow(half, [1e6, 2_000, 1e6, 1e6, 1e6], { stress: [0, 3_000, 0, 0, 0] });
  expect(base).toBeCloseTo(0.5 + 2 * 0.3 + 0.2, 12);
  // Together they keep half of the share: 300 bytes a unit of work over 1,000.
  expect(perRequest).toBeCloseTo(0.3, 12);
});

test("a cache is divided by who fills it: three times the working set beside it leaves a quarter, and misses double", () => {
  expect(slow(half, [1e6, 1e6, 4, 1e6, 1e6], { stress: [0, 0, 12, 0, 0] }).misses).toBeCloseTo(2, 12);
});
