import { expect, test } from "vitest";
import { ratio } from "../../../../base/index.ts";
import type { Caution } from "./caution.ts";
import { cautionAfter, noCaution, worthOfMiss } from "./caution.ts";

const allowed = ratio(0.005);
const miss = (caution: Caution) => cautionAfter(caution, { isMissed: true, allowed });
const keep = (caution: Caution) => cautionAfter(caution, { isMissed: false, allowed });
const times = (count: number, step: (caution: Caution) => Caution, from: Caution = noCaution): Caution => {
  let caution = from;
  for (let i = 0; i < count; i++) caution = step(caution);
  return caution;
};

test("one miss burns what 200 steps may, over an hour of 240 steps and over six", () => {
  const { short, long } = miss({ level: 0, short: 0, long: 0 });
  expect(short).toBeCloseTo(200 / 240, 12);
  expect(long).toBeCloseTo(200 / 1_440, 12);
});

test("where one window burns too fast and the other does not, a miss weighs as much as 199 kept steps", () => {
  // Six hours that burned at 3, and an hour without any: kept steps leave it so, for 199 steps take the longer window to 2.6.
  const mixed: Caution = { level: 1, short: 0, long: 3 };
  expect(miss(mixed).level).toBeCloseTo(1 + 0.08 * 0.995, 12);
  expect(times(199, keep, { ...mixed, level: 1 + 0.08 * 0.995 }).level).toBeCloseTo(1, 10);
});

test("where both burn too fast a miss counts twice, where both have some left a kept step does", () => {
  expect(miss({ level: 0, short: 5, long: 2 }).level).toBeCloseTo(2 * 0.08 - 0.08 * 0.005, 12);
  expect(keep({ level: 0, short: 5, long: 2 }).level).toBeCloseTo(-0.08 * 0.005, 12);
  expect(keep({ level: 0, short: 0.5, long: 0.9 }).level).toBeCloseTo(-2 * 0.08 * 0.005, 12);
});

test("three minutes of misses make a miss worth 6.8 times as much, and 3.9 times after a clean day", () => {
  // From burn 1 all twelve count twice: 12 × (0.16 − 0.0004) = 1.9152.
  expect(times(12, miss).level).toBeCloseTo(1.9152, 10);
  // After a clean day the longer window passes 1 with the eighth miss, so that five of them do:
  // 200 × (1 − (1439/1440)^n) is 0.970 for 7 and 1.108 for 8. With the first one both are still below 1, so it falls twice.
  expect(times(12, miss, { level: 0, short: 0, long: 0 }).level).toBeCloseTo(12 * 0.0796 + 5 * 0.08 - 0.0004, 10);
});

test("neither misses without end nor none at all take it beyond its bounds", () => {
  expect(times(10_000, miss).level).toBe(3);
  expect(times(10_000, keep).level).toBe(-1);
});

test("a clean day spends what is left: within six hours a miss is worth a third", () => {
  // 0.0008 a step: 1,250 steps, a little more than five hours.
  expect(times(1_249, keep).level).toBeGreaterThan(-1);
  expect(times(1_251, keep).level).toBe(-1);
});

test("a miss is worth six steps of CPU, and e times as much for each step of caution", () => {
  expect(worthOfMiss(noCaution)).toBe(6);
  expect(worthOfMiss({ level: 2 }) / worthOfMiss({ level: 1 })).toBeCloseTo(Math.E, 10);
});
