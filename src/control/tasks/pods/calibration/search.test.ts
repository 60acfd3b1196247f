import { expect, test } from "vitest";
import { noBursts } from "../capacity/bursts.ts";
import { courseOf } from "./fluid.ts";
import type { CalibratedModel } from "./model.ts";
import { sizeOf } from "./prior.ts";
import type { Minute } from "./records.ts";
import type { SearchOptions } from "./search.ts";
import { expectedLoads, partsOf, searchPrior } from "./search.ts";

/** 50 millicore-seconds a request; 60 ms where there is plenty and 100 are allowed; requests wait below 400 free millicores. */
const model: CalibratedModel = {
  work: 50,
  base: Math.log(0.6),
  width: 300,
  free: 400,
  rate: null,
  noise: 1,
  bursts: noBursts,
  allowed: 100,
  memory: { base: 100, perRequest: 0, most: 100 },
  error: { minutes: 100, strain: 0.02, missed: 0, expected: 0, told: null },
};
const options: SearchOptions = {
  bounds: { pods: { min: 2, max: 12 }, size: { min: 100, max: 4_000 } },
  prices: { core: 0.04, gib: 0.005 },
  allowed: 0.005,
  leastSize: 100,
};
const minutesWith = (count: number, load: (minute: number) => number): Minute[] =>
  Array.from({ length: count }, (_, at) => ({
    at,
    load: load(at),
    peak: load(at),
    pods: 2,
    size: 2_000,
    free: 1_000,
    strain: null,
    missed: 0,
    work: 50,
  }));

test("cores are the larger of n pods of b and of the load over u, with s to spare in each", () => {
  const prior = { pods: 2, size: 500, utilisation: 0.5, spare: 0, lookBack: 1, yesterday: false } as const;
  expect(sizeOf(prior, 300, 4_000)).toEqual({ pods: 2, size: 500 });
  // 1,000 over a half are 2,000 in two pods.
  expect(sizeOf(prior, 1_000, 4_000)).toEqual({ pods: 2, size: 1_000 });
  // 6,000 over a half are three pods of 4,000.
  expect(sizeOf(prior, 6_000, 4_000)).toEqual({ pods: 3, size: 4_000 });
  expect(sizeOf({ ...prior, utilisation: 1, spare: 400 }, 1_000, 4_000)).toEqual({ pods: 2, size: 900 });
});

test("a prior reckons with the most of the last minutes as they were measured, and with yesterday's", () => {
  const count = 1_440 + 60;
  const load = (minute: number): number => (minute === 100 ? 30 : minute < 50 ? 0 : 10);
  const course = courseOf(model, minutesWith(count, load));
  const last = expectedLoads(course, { lookBack: 5, yesterday: false });
  // Known two to three steps later, and for five minutes after the minute in which it was known.
  expect(last[400]).toBe(10);
  expect(last[404]).toBe(30);
  expect(last[4 * 106 + 3]).toBe(30);
  expect(last[4 * 107]).toBe(10);
  const both = expectedLoads(course, { lookBack: 5, yesterday: true });
  // In silence that was there yesterday it relies on silence; only the load of today says otherwise.
  expect(both[4 * 1_450]).toBe(10);
  const silent = courseOf(
    model,
    minutesWith(count, () => 0),
  );
  expect(expectedLoads(silent, { lookBack: 5, yesterday: true })[4 * 1_450]).toBe(-1);
  expect(expectedLoads(silent, { lookBack: 5, yesterday: false })[4 * 1_450]).toBe(0);
});

test("for a steady load the cheapest that keeps the SLO is found: two pods of what is used and what must be free", () => {
  const found = searchPrior(
    courseOf(
      model,
      minutesWith(600, () => 20),
    ),
    options,
  );
  // 500 are used in each of two pods. With f free the latency is 60 · (400 / f)^0.9, so 100 is kept from 227 on.
  expect(found?.prior.pods).toBe(2);
  const { size } = sizeOf(found?.prior as NonNullable<typeof found>["prior"], 1_000, 4_000);
  expect(size).toBeGreaterThanOrEqual(727);
  expect(size).toBeLessThan(727 * 1.25);
  expect(found?.judged.missed).toBe(0);
});

test("where loads jump it looks back far enough to be there when they come again", () => {
  // One minute in ten brings ten times the load: a prior that follows the last minute misses each of them.
  const found = searchPrior(
    courseOf(
      model,
      minutesWith(1_200, (minute) => (minute % 10 === 0 ? 40 : 4)),
    ),
    options,
  );
  const prior = found?.prior as NonNullable<typeof found>["prior"];
  const { size } = sizeOf(prior, 40 * 50, 4_000);
  expect(prior.lookBack >= 15 || prior.size >= 1_200).toBe(true);
  expect(size).toBeGreaterThan(1_200);
  expect((found?.judged.missed ?? 0) / (found?.judged.steps ?? 1)).toBeLessThan(0.01);
});

test("the estimate is of the part that had no say in the choice: a load that doubles there is missed there", () => {
  const course = courseOf(
    model,
    minutesWith(1_200, (minute) => (minute < 900 ? 10 : 10 + 90 * ((minute >> 1) % 2))),
  );
  const parts = partsOf(course);
  expect(parts).toEqual({ from: 240, cut: 4_800 - Math.ceil(0.3 * (4_800 - 240)), to: 4_800 });
  const found = searchPrior(course, options);
  expect(found?.judged.steps).toBe(parts.to - parts.cut);
  expect(found?.judged.missed).toBeGreaterThan(100);
});

test("where nothing keeps the SLO there is no prior, and the same course gives the same one", () => {
  const slow = { ...model, base: 0.1 };
  expect(
    searchPrior(
      courseOf(
        slow,
        minutesWith(600, () => 20),
      ),
      options,
    ),
  ).toBeUndefined();
  const course = courseOf(
    model,
    minutesWith(600, (minute) => 5 + (minute % 11)),
  );
  expect(searchPrior(course, options)).toEqual(searchPrior(course, options));
});
