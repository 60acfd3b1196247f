import { expect, test } from "vitest";
import { seededRng } from "../../../../base/index.ts";
import {
  armCount,
  armOf,
  busyServices,
  chooseArm,
  costsOf,
  expectedCosts,
  type TowerSample,
  towerConfig,
} from "./tower.ts";

const sample = (change: Partial<TowerSample>): TowerSample => ({
  arm: { busy: 0, idle: 0 },
  perSecond: 100,
  overSlo: 0.5,
  cores: 10,
  ...change,
});
const choose = (samples: readonly TowerSample[], perSecond = 100) =>
  chooseArm(samples, perSecond, { config: towerConfig, rng: seededRng(1) });

test("a minute that kept the SLO costs 0 to 1 by its CPU, one that missed it 2 to 3 by its latency", () => {
  const samples = [{ cores: 10 }, { cores: 30 }, { cores: 15 }, { overSlo: 1.5 }, { overSlo: 2 }, { overSlo: 3.5 }];
  expect(costsOf(samples.map(sample))).toEqual([0, 1, 0.25, 2, 2.25, 3]);
  expect(costsOf([sample({}), sample({ overSlo: 2 })])).toEqual([0.5, 2.5]);
});

test("the cheapest arm that kept the SLO is chosen, however much cheaper one that missed it is", () => {
  const samples = [
    sample({ arm: { busy: 0, idle: 0 }, cores: 30 }),
    sample({ arm: { busy: 4, idle: 0 }, cores: 20 }),
    sample({ arm: { busy: 8, idle: 0 }, cores: 5, overSlo: 4 }),
  ];
  expect(choose(samples)).toMatchObject({ busy: 4 });
});

test("what is best depends on the rate", () => {
  const samples = [
    sample({ arm: { busy: 6, idle: 0 }, perSecond: 100, cores: 5 }),
    sample({ arm: { busy: 1, idle: 0 }, perSecond: 100, cores: 9 }),
    sample({ arm: { busy: 6, idle: 0 }, perSecond: 1_000, overSlo: 3 }),
    sample({ arm: { busy: 1, idle: 0 }, perSecond: 1_000, cores: 20 }),
  ];
  expect(choose(samples, 100)).toMatchObject({ busy: 6 });
  expect(choose(samples, 1_000)).toMatchObject({ busy: 1 });
});

test("with nothing seen targets are strict, and an arm far from everything seen is as bad as can be", () => {
  expect(choose([])).toEqual({ busy: 0, idle: 0 });
  const expected = expectedCosts([sample({}), sample({ cores: 20 })], 100, towerConfig);
  // Costs of 0 and 1, and a doubt that weighs a twentieth of a minute and costs 3.
  expect(expected[0]).toBeCloseTo((0 + 1 + 0.05 * 3) / 2.05, 12);
  expect(expected[armCount - 1]).toBeCloseTo(3, 9);
});

test("exploring goes to a neighbour of the best arm as often as it is told to", () => {
  const samples = [sample({ arm: { busy: 0, idle: 3 }, cores: 1 }), sample({ arm: { busy: 7, idle: 7 }, cores: 50 })];
  const rng = seededRng(3);
  const config = { ...towerConfig, explore: 0.3 };
  const arms = Array.from({ length: 2_000 }, () => chooseArm(samples, 100, { config, rng }));
  const best = choose(samples);
  const away = arms.filter(({ busy, idle }) => busy !== best.busy || idle !== best.idle);
  // 600 expected, with a deviation of 20.
  expect(Math.abs(away.length - 600)).toBeLessThan(80);
  for (const { busy, idle } of away) expect(Math.abs(busy - best.busy) + Math.abs(idle - best.idle)).toBe(1);
});

test("arms are numbered by the busy group's rung, then the idle one's", () => {
  expect([0, 8, 9, 80].map(armOf)).toEqual([
    { busy: 0, idle: 0 },
    { busy: 0, idle: 8 },
    { busy: 1, idle: 0 },
    { busy: 8, idle: 8 },
  ]);
});

test("services fall into two groups where the sum of squares is least", () => {
  // Cut at 0.3 | 2: 0.0467 + 0.5; at 2 | 3: 1.99.
  expect(busyServices({ a: 0.1, b: 3, c: 0.3, d: 2, e: 0 })).toEqual(new Set(["b", "d"]));
  expect(busyServices({ only: 1 })).toEqual(new Set());
});
