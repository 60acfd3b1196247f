import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import { costReward } from "./objective.ts";
import { dollars, ratesByHour } from "./rates.ts";

const of = (replicas: number, cores: number, gib: number): Allocation => ({
  replicas,
  cpu: millicores(1_000 * cores),
  memory: bytes(gib * 2 ** 30),
});
const rules = of(4, 1, 1);
const kept = { setting: rules, previous: rules, fallback: rules, isMissed: false, kills: 0, rates: dollars };

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

test("by energy half of the cores and all of the memory earn what the watts say", () => {
  const [rates] = ratesByHour({ objective: "energy" });
  if (rates === undefined) throw new Error("there are no rates");
  const setting = of(4, 0.5, 1);
  // The rules take 4 × (1.4 + 0.263) W, this 4 × (0.7 + 0.263) W.
  expect(costReward({ ...kept, setting, previous: setting, rates })).toBeCloseTo(1 - 0.963 / 1.663, 12);
  // A stopped pod is four cores' worth of a step: 5.6 W against the rules' 6.652 W.
  const fewer = of(3, 1, 1);
  expect(costReward({ ...kept, setting: fewer, rates })).toBeCloseTo(0.25 - 5.6 / 6.652, 12);
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
