import fc from "fast-check";
import { expect, test } from "vitest";
import type { Points } from "./points.ts";
import { bestCount, bestSize, insuredSize } from "./sizing.ts";

const bounds = { min: 100, max: 4_000 };
const pods = { min: 2, max: 12 };

interface Knees {
  readonly size: number;
  readonly free: number;
  readonly rate?: number;
  readonly base?: number;
}
const pointsOf = (...knees: readonly Knees[]): Points => ({
  each: Float64Array.from(
    knees.flatMap(({ size, free, rate = Number.POSITIVE_INFINITY, base = -0.25 }) => [
      Math.log(size),
      Math.log(free),
      Math.log(rate),
      base,
      1 / knees.length,
    ]),
  ),
  noise: 1,
});
const need = { load: 10, work: 50, worth: 6 };

test("where only a lone request's cores count, a pod gets a little less than they are: the SLO leaves room", () => {
  const { size } = bestSize(pointsOf({ size: 1_000, free: 1 }), 2, { need: { ...need, load: 50, work: 1 }, bounds });
  expect(size).toBeGreaterThan(700);
  expect(size).toBeLessThan(1_100);
});

test("the more a miss is worth, the more CPU there is", () => {
  const sizes = [1, 6, 40, 120].map(
    (worth) => bestSize(pointsOf({ size: 600, free: 300 }), 2, { need: { ...need, worth }, bounds }).size,
  );
  expect(sizes).toEqual([...sizes].sort((one, other) => one - other));
  expect(sizes[3]).toBeGreaterThan(1.1 * (sizes[0] as number));
});

test("where more CPU is no cure it is not given", () => {
  const hopeless = pointsOf({ size: 400, free: 100, base: 0.3 });
  expect(bestSize(hopeless, 2, { need: { ...need, worth: 100 }, bounds }).size).toBeLessThan(1_000);
});

test("in an overload that no size ends, the largest is best, and twice the pods", () => {
  const points = pointsOf({ size: 400, free: 300 });
  const flood = { ...need, load: 400 };
  expect(bestSize(points, 2, { need: flood, bounds }).size).toBe(4_000);
  expect(bestCount(points, 2, { need: flood, bounds, pods })).toBe(4);
});

test("pods that threads limit get company, and others do not", () => {
  const busy = { ...need, load: 40, work: 5 };
  expect(bestCount(pointsOf({ size: 300, free: 100, rate: 8 }), 3, { need: busy, bounds, pods })).toBeGreaterThan(3);
  expect(bestCount(pointsOf({ size: 300, free: 100 }), 3, { need: busy, bounds, pods })).toBe(2);
});

test("one pod fewer is tried where it is one in four that nothing but CPU limits them", () => {
  const limited = { size: 300, free: 100, rate: 14 };
  const asked = { need: { ...need, load: 40, work: 5 }, bounds, pods };
  expect(bestCount(pointsOf(limited, limited, limited, limited), 4, asked)).toBe(4);
  expect(bestCount(pointsOf(limited, limited, limited, { size: 300, free: 100 }), 4, asked)).toBe(3);
});

test("sizes and counts stay within their bounds", () => {
  const knee = fc.double({ min: 10, max: 8_000, noNaN: true });
  fc.assert(
    fc.property(
      knee,
      knee,
      fc.double({ min: 0, max: 500, noNaN: true }),
      fc.integer({ min: 1, max: 14 }),
      (size, free, load, now) => {
        const asked = { need: { ...need, load }, bounds, pods };
        const found = bestSize(pointsOf({ size, free }), 3, asked).size;
        expect(found).toBeGreaterThanOrEqual(bounds.min);
        expect(found).toBeLessThanOrEqual(bounds.max);
        const count = bestCount(pointsOf({ size, free }), now, asked);
        expect(count).toBeGreaterThanOrEqual(pods.min);
        expect(count).toBeLessThanOrEqual(pods.max);
      },
    ),
    { seed: 5, numRuns: 60 },
  );
});

test("bursts get more than the usual minute, and at most three tenths more", () => {
  const usual = pointsOf({ size: 600, free: 300 });
  const { size } = bestSize(usual, 2, { need, bounds });
  const insured = (level: number) =>
    insuredSize({ ...usual, bursts: { seen: { level, excess: 0.1, seen: 100 }, work: 50 } }, 2, { need, bounds }).size;
  // 300 free millicores are 6 for each of the 50 that a request takes.
  expect(insured(Math.log(0.6))).toBeCloseTo(size, 6);
  expect(insured(Math.log(12))).toBeGreaterThan(1.05 * size);
  expect(insured(Math.log(12))).toBeLessThan(1.31 * size);
  expect(insured(Math.log(1_000))).toBeLessThan(1.31 * size);
});
