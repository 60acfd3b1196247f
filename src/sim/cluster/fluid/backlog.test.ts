import { expect, test } from "vitest";
import { Course, followLoad, type LoadCurve } from "./backlog.ts";
import { LOAD_LEVELS } from "./calibration.ts";

/** M/M/1 with room for 1,000: ρ/(1−ρ) below 1, full above. */
const curve: LoadCurve = {
  inside: (level) => {
    const load = LOAD_LEVELS[level] as number;
    return load < 1 ? load / (1 - load) : 1_000;
  },
  admitted: (level) => Math.min(1, LOAD_LEVELS[level] as number),
};
const capacity = 0.01; // per ms: ten a second

function follow(inside: number, load: number, span = 15_000): Course {
  const course = new Course();
  followLoad(curve, { inside, rate: load * capacity, capacity, span }, course);
  return course;
}

const total = ({ weight, count }: Course) => weight.subarray(0, count).reduce((sum, share) => sum + share, 0);

test("a light load settles at its steady state within a step", () => {
  // Between the levels 0.4 and 0.55 the curve is taken as straight.
  const [low, high] = [0.4 / 0.6, 0.55 / 0.45];
  const expected = low + ((0.5 - 0.4) / 0.15) * (high - low);
  expect(follow(0, 0.5).inside).toBeCloseTo(expected, 2);
  expect(follow(expected, 0.5).inside).toBeCloseTo(expected, 3);
});

test("overload fills the queue with what is too much", () => {
  // 0.2 × 10 a second too much for 15 s: 30 more, once the pod is saturated (at 0.95: 19 inside).
  const { inside } = follow(19, 1.2);
  expect(inside).toBeGreaterThan(19 + 30 * 0.7);
  expect(inside).toBeLessThan(19 + 30 * 1.3);
});

test("a backlog is worked off at the rate that is left", () => {
  // 500 inside, load 0.5: 5 a second go, 75 in a step.
  const { inside } = follow(500, 0.5);
  expect(500 - inside).toBeGreaterThan(75 * 0.9);
  expect(500 - inside).toBeLessThan(75 * 1.15);
});

test("no load empties a pod and does not go below nothing", () => {
  const { inside } = follow(3, 0, 60_000);
  expect(inside).toBeGreaterThanOrEqual(0);
  expect(inside).toBeLessThan(0.1);
});

test("the stretches of a step add up to the step, and lie between two levels", () => {
  for (const inside of [0, 0.5, 5, 50, 900, 1_000]) {
    for (const load of [0, 0.05, 0.3, 0.9, 1, 1.2, 3, 40]) {
      const course = follow(inside, load);
      expect(total(course)).toBeCloseTo(1, 6);
      expect(course.inside).toBeGreaterThanOrEqual(0);
      expect(course.inside).toBeLessThanOrEqual(1_001);
      for (let s = 0; s < course.count; s++) {
        expect(course.part[s]).toBeGreaterThanOrEqual(0);
        expect(course.part[s]).toBeLessThanOrEqual(1);
        expect(course.level[s]).toBeLessThan(LOAD_LEVELS.length - 1);
      }
    }
  }
});

test("a step too short to be cut is one stretch, where the pod is on average", () => {
  // A tenth of a second of a load far above the pod's: by far not filled, and on its way up all the time.
  const course = follow(0, 3, 100);
  expect(course.count).toBe(1);
  expect(course.weight[0]).toBeCloseTo(1, 12);
  const place = (course.level[0] as number) + (course.part[0] as number);
  const last = follow(course.inside, 0, 1);
  expect(place).toBeGreaterThan(0);
  expect(place).toBeLessThan((last.level[0] as number) + (last.part[0] as number));
});

test("no stretch of a cut step is shorter than 300 ms", () => {
  for (const inside of [0, 5, 900]) {
    for (const load of [0, 0.5, 0.95, 3]) {
      for (const span of [400, 1_000, 5_000]) {
        const { count, weight } = follow(inside, load, span);
        for (let s = 0; count > 1 && s < count; s++)
          expect((weight[s] as number) * span).toBeGreaterThanOrEqual(299.999);
      }
    }
  }
});
