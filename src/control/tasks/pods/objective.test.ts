import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import { billOf, costReward } from "./objective.ts";

const of = (replicas: number, cores: number, gib: number): Allocation => ({
  replicas,
  cpu: millicores(1_000 * cores),
  memory: bytes(gib * 2 ** 30),
});
const rules = of(4, 1, 1);
const kept = { setting: rules, previous: rules, fallback: rules, isMissed: false, kills: 0 };

test("a bill is cores and memory at public prices", () => {
  // 4 × (0.04048 + 0.004773) dollars an hour.
  expect(billOf(rules)).toBeCloseTo(0.181012, 6);
});

test("as dear as the rules earns nothing, half of their bill earns a half", () => {
  expect(costReward(kept)).toBe(0);
  expect(costReward({ ...kept, setting: of(4, 0.5, 0.5), previous: of(4, 0.5, 0.5) })).toBeCloseTo(0.5, 12);
  expect(costReward({ ...kept, setting: of(8, 1, 1), previous: of(8, 1, 1) })).toBeCloseTo(-1, 12);
});

test("a missed step is worth six steps of the rules' bill, a killed pod ten", () => {
  expect(costReward({ ...kept, isMissed: true })).toBe(-6);
  expect(costReward({ ...kept, kills: 2 })).toBe(-20);
});

test("a pod that is stopped costs about a minute of one core, once", () => {
  const setting = of(3, 1, 1);
  // 0.0007 dollars in a step of 15 s are 0.168 an hour, and the rules' bill is 0.181012.
  expect(costReward({ ...kept, setting })).toBeCloseTo(0.25 - 0.168 / 0.181012, 6);
  expect(costReward({ ...kept, setting, previous: setting })).toBeCloseTo(0.25, 12);
});

test("no bill outweighs more than three of the rules'", () => {
  expect(costReward({ ...kept, setting: of(12, 4, 2), previous: of(12, 4, 2), fallback: of(1, 0.1, 0.1) })).toBe(-3);
});

test("all else equal, missing more, paying more and stopping more never earns more", () => {
  const sizes = [0.2, 0.5, 1, 2, 4].map((cores) => of(3, cores, 1));
  for (const [i, setting] of sizes.entries()) {
    const step = { ...kept, setting, previous: setting };
    const larger = sizes[i + 1];
    if (larger) expect(costReward({ ...step, setting: larger })).toBeLessThanOrEqual(costReward(step));
    expect(costReward({ ...step, isMissed: true })).toBeLessThan(costReward(step));
    expect(costReward({ ...step, previous: { ...setting, replicas: 5 } })).toBeLessThan(costReward(step));
  }
});
