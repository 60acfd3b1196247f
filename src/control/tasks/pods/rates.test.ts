import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, millicores, milliseconds } from "../../../base/index.ts";
import type { Aim } from "./rates.ts";
import { aimProblems, dollars, rateOf, ratesAt, ratesByHour } from "./rates.ts";

const HOUR = 3_600_000;
const at = (hour: number) => milliseconds(Date.UTC(2026, 0, 5) + hour * HOUR);
const pods: Allocation = { replicas: 4, cpu: millicores(1_000), memory: bytes(2 ** 30) };
const small: Allocation = { replicas: 2, cpu: millicores(500), memory: bytes(2 ** 29) };
const taken = (aim: Aim, setting = pods, hour = 0): number => rateOf(setting, ratesAt(ratesByHour(aim), at(hour)));
/** Dirty from noon to midnight. */
const half = Array.from({ length: 24 }, (_, hour) => (hour < 12 ? 100 : 300));

test("a bill is cores and memory at public prices", () => {
  // 4 × (0.04048 + 0.004773) dollars an hour.
  expect(taken({ objective: "cost" })).toBeCloseTo(0.181012, 9);
});

test("energy is 1.4 W for a requested core and 0.263 W for a GiB", () => {
  expect(taken({ objective: "energy" })).toBeCloseTo(4 * (1.4 + 0.263), 12);
  // Half a core and half a GiB, twice.
  expect(taken({ objective: "energy" }, small)).toBeCloseTo(1.4 + 0.263, 12);
});

test("carbon is energy times the intensity of the hour, by UTC and every day alike", () => {
  // 6.652 W for an hour are 6.652 Wh; at 400 g/kWh that is 2.6608 g.
  expect(taken({ objective: "carbon", carbonIntensity: [400] }, pods, 13)).toBeCloseTo(2.6608, 9);
  const aim: Aim = { objective: "carbon", carbonIntensity: half };
  expect(taken(aim, pods, 11.99)).toBeCloseTo(0.6652, 9);
  expect(taken(aim, pods, 12)).toBeCloseTo(3 * 0.6652, 9);
  expect(taken(aim, pods, 24 + 23)).toBeCloseTo(3 * 0.6652, 9);
  expect(taken(aim, pods, 48)).toBeCloseTo(0.6652, 9);
});

test("a weight of 1 is what a core with 4 GiB takes of each, at the day's mean intensity", () => {
  const usual: Allocation = { replicas: 1, cpu: millicores(1_000), memory: bytes(2 ** 32) };
  expect(taken({ objective: "weights", weights: { cost: 1 } }, usual)).toBeCloseTo(1, 12);
  expect(taken({ objective: "weights", weights: { energy: 2 } }, usual)).toBeCloseTo(2, 12);
  const mixed: Aim = { objective: "weights", weights: { cost: 1, carbon: 1 }, carbonIntensity: half };
  // The mean is 200: half of it in the morning, one and a half in the afternoon.
  expect(taken(mixed, usual, 0)).toBeCloseTo(1 + 0.5, 12);
  expect(taken(mixed, usual, 12)).toBeCloseTo(1 + 1.5, 12);
});

test("weights of one thing alone rank settings as that thing does", () => {
  for (const objective of ["cost", "energy"] as const) {
    const byWeight = taken({ objective: "weights", weights: { [objective]: 3 } }, small);
    const whole = taken({ objective: "weights", weights: { [objective]: 3 } });
    expect(byWeight / whole).toBeCloseTo(taken({ objective }, small) / taken({ objective }), 12);
  }
});

test("the paper's reward has bills in dollars all the same", () => {
  expect(ratesByHour({ objective: "paper" })).toEqual([dollars]);
});

test.each<{ aim: Aim; says: string[] }>([
  { aim: { objective: "cost" }, says: [] },
  { aim: { objective: "carbon", carbonIntensity: half }, says: [] },
  { aim: { objective: "weights", weights: { cost: 1, energy: 1 } }, says: [] },
  { aim: { objective: "carbon" }, says: ["carbonIntensity must be given where carbon counts"] },
  { aim: { objective: "energy", carbonIntensity: [400] }, says: ["carbonIntensity must be left out"] },
  { aim: { objective: "carbon", carbonIntensity: [1, 2] }, says: ["carbonIntensity must be grams of CO2 per kWh"] },
  { aim: { objective: "carbon", carbonIntensity: [0] }, says: ["carbonIntensity must be grams of CO2 per kWh"] },
  { aim: { objective: "carbon", carbonIntensity: [Number.NaN] }, says: ["carbonIntensity must be grams"] },
  { aim: { objective: "weights" }, says: ["weights must be given where the objective is weights"] },
  { aim: { objective: "cost", weights: { cost: 1 } }, says: ["weights must be left out where the objective is cost"] },
  { aim: { objective: "weights", weights: { cost: 0 } }, says: ["weights must be numbers of 0 or more"] },
  { aim: { objective: "weights", weights: { cost: 1, energy: -1 } }, says: ["weights must be numbers of 0 or more"] },
  {
    aim: { objective: "weights", weights: { carbon: 1 } },
    says: ["carbonIntensity must be given where carbon counts"],
  },
])("an aim that makes no sense is told by its key: $says", ({ aim, says }) => {
  const told = aimProblems(aim).map(({ key, reason }) => `${key} ${reason}`);
  expect(told).toHaveLength(says.length);
  for (const [i, text] of says.entries()) expect(told[i]).toContain(text);
});
