import { expect, test } from "vitest";
import { noBursts } from "../capacity/bursts.ts";
import { courseOf, type FluidController, type FluidOptions, simulate } from "./fluid.ts";
import type { CalibratedModel } from "./model.ts";
import type { Minute } from "./records.ts";

/** 50 millicore-seconds a request; 60 ms where there is plenty and 100 are allowed; requests wait below 400 free millicores. */
const model: CalibratedModel = {
  work: 50,
  base: Math.log(0.6),
  width: 500,
  free: 400,
  rate: null,
  noise: 1,
  bursts: noBursts,
  allowed: 100,
  memory: { base: 100, perRequest: 0, most: 100 },
  error: { minutes: 100, strain: 0.02, missed: 0, expected: 0, told: null },
};
const options: FluidOptions = {
  bounds: { pods: { min: 1, max: 12 }, size: { min: 100, max: 4_000 } },
  prices: { core: 0.04, gib: 0 },
};

interface Given {
  readonly load: number;
  readonly size?: number;
  readonly strain?: number | null;
}

function minutesOf(count: number, given: (minute: number) => Given): Minute[] {
  return Array.from({ length: count }, (_, at) => {
    const { load, size = 2_000, strain = null } = given(at);
    return { at, load, peak: load, pods: 2, size, free: size - (load * 50) / 2, strain, missed: 0, work: 50 };
  });
}

const held =
  (pods: number, size: number): FluidController =>
  (view) => {
    view.wantPods = pods;
    view.wantSize = size;
  };
const strains =
  (controller: FluidController, seen: number[]): FluidController =>
  (view) => {
    seen.push(view.strain);
    controller(view);
  };

test("two pods of one core for an hour cost twice the price of a core, and plenty is 60 ms", () => {
  const course = courseOf(
    model,
    minutesOf(60, () => ({ load: 10, size: 1_000 })),
  );
  const seen: number[] = [];
  const outcome = simulate(course, strains(held(2, 1_000), seen), options);
  expect(outcome).toMatchObject({ steps: 240, asked: 240, missed: 0 });
  expect(outcome.cost).toBeCloseTo(2 * 0.04, 10);
  // 10 requests of 50 in two pods leave 750 of 1,000: beyond where waiting begins, 400 · e^0.4 = 597.
  expect(seen.at(-1)).toBeCloseTo(Math.log(0.6), 10);
});

test("250 free millicores where waiting begins at 400 are a strain of 0.9 ln(400 / 250) more", () => {
  // 20 requests of 50 in two pods take 500 of 750. A width of 500 is felt below 500 · e^0.4 = 746 only.
  const course = courseOf(
    model,
    minutesOf(60, () => ({ load: 20, size: 750 })),
  );
  const seen: number[] = [];
  simulate(course, strains(held(2, 750), seen), options);
  expect(seen.at(-1)).toBeCloseTo(Math.log(0.6) + 0.9 * Math.log(400 / 250), 6);
});

test("what overload leaves behind is worked off later: requests of two minutes at twice the capacity wait for two more", () => {
  // Two pods of one core do 40 requests a second. 80 come for two minutes, then none more than 1.
  const patient = { ...model, allowed: 60_000 };
  const course = courseOf(
    patient,
    minutesOf(30, (at) => ({ load: at === 10 || at === 11 ? 80 : 1, size: 1_000 })),
  );
  const seen: number[] = [];
  simulate(course, strains(held(2, 1_000), seen), options);
  const backlogAt = (minute: number) => Math.exp(seen[4 * minute + 1] as number);
  // 4,800 requests wait at the end: 120 s of work over 60 s that are allowed, beside the usual latency.
  expect(backlogAt(12)).toBeGreaterThan(1.5);
  expect(backlogAt(13)).toBeLessThan(backlogAt(12));
  // Worked off at 39 a second: two minutes and a bit.
  expect(seen[4 * 16] as number).toBeCloseTo(Math.log(0.6), 6);
});

test("pods take a minute to start, sizes grow by a factor of two and fall by half, once a minute", () => {
  const course = courseOf(
    model,
    minutesOf(10, () => ({ load: 1, size: 1_000 })),
  );
  const told: { ready: number; size: number }[] = [];
  simulate(
    course,
    (view) => {
      told.push({ ready: view.ready, size: view.size });
      view.wantPods = view.step >= 4 ? 4 : 2;
      view.wantSize = view.step < 8 ? 4_000 : 500;
    },
    options,
  );
  // What there is when the step begins: doubled twice.
  expect(told.slice(0, 3).map(({ size }) => size)).toEqual([1_000, 2_001, 4_000]);
  expect(told[7]?.ready).toBe(2);
  expect(told[8]?.ready).toBe(4);
  expect(told.slice(9, 15).map(({ size }) => size)).toEqual([2_000, 2_000, 2_000, 2_000, 1_000, 1_000]);
});

test("a burst that was seen happens again, and more CPU cures it", () => {
  // 1,000 of 2,000 are free, and one minute was at 110 ms all the same: its own knee was at 1,000 · e^x with 0.9 x = ln(110 / 60).
  const course = courseOf(
    model,
    minutesOf(60, (at) => ({ load: 40, strain: at === 30 ? Math.log(1.1) : Math.log(0.6) })),
  );
  const missed = (size: number) => simulate(course, held(2, size), options).missed;
  expect(missed(2_000)).toBe(4);
  expect(missed(3_000)).toBe(0);
});

test("the same course and controller give the same outcome, and a search may give up early", () => {
  const course = courseOf(
    model,
    minutesOf(60, (at) => ({ load: 5 + (at % 7) })),
  );
  expect(simulate(course, held(2, 300), options)).toEqual(simulate(course, held(2, 300), options));
  expect(simulate(course, held(2, 300), { ...options, mostMissed: 3 })).toMatchObject({
    missed: 4,
    cost: Number.POSITIVE_INFINITY,
  });
});
