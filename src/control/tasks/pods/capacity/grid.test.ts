import { expect, test } from "vitest";
import { seededRng } from "../../../../base/index.ts";
import { conditionsOf } from "./conditions.ts";
import type { Cells, Weighing } from "./grid.ts";
import { freshCells, isWhole, kneesOf, pointsAmong, weigh } from "./grid.ts";
import { bend, logFree, logRate, logSize, SLOPE } from "./points.ts";
import { MOST_STRAIN } from "./strain.ts";

const knees = kneesOf({ min: 100, max: 4_000 });
const rates = [
  ...Array.from({ length: 10 }, (_, i) => Math.log(3 * (150 / 3) ** (i / 9))),
  // No limit at all.
  Number.POSITIVE_INFINITY,
];

/** The same cell by cell, with nothing copied. */
function weighedOneByOne(
  { weights, bases }: Cells,
  { strain, conditions, variance, gain, forgotten }: Weighing,
): Cells {
  const farthest = 3 * Math.sqrt(variance);
  const learned: number[] = [];
  const after: number[] = [];
  for (const size of knees.sizes)
    for (const free of knees.frees)
      for (const rate of rates) {
        const cell = learned.length;
        const base = (bases[cell] ?? 0) / 100_000;
        const ofSize = SLOPE.size * bend(size - logSize(conditions));
        const ofFree = SLOPE.free * bend(free - logFree(conditions));
        const expected = base + (ofSize + ofFree) + SLOPE.rate * bend(logRate(conditions) - rate);
        const error = strain - Math.min(expected, MOST_STRAIN);
        const counted = Math.min(Math.max(error, -farthest), farthest);
        const weight = (weights[cell] ?? 0) / 100 - (0.5 / variance) * counted * counted;
        learned.push(weight + forgotten * ((rate === Number.POSITIVE_INFINITY ? 0 : -4.3) - weight));
        after.push(Math.round((base + gain * counted) * 100_000) | 0);
      }
  const largest = Math.max(...learned);
  return { weights: learned.map((one) => Math.round(Math.max(one - largest, -15) * 100) | 0), bases: after };
}

/** Busy and quiet minutes, sizes that come and go, a strain now and then that says all is piled up. */
function lives(steps: number): readonly Weighing[] {
  const rng = seededRng(1_000).fork("grid");
  return Array.from({ length: steps }, (_, i) => ({
    strain: i % 17 === 0 ? MOST_STRAIN : -0.3 + 0.2 * rng.normal(),
    conditions: conditionsOf({ size: 300 + 2_000 * rng.next(), pods: 1 + rng.int(4), load: 30 * rng.next(), work: 40 }),
    variance: 0.02 + 0.1 * rng.next(),
    gain: i % 17 === 0 ? 0 : 0.05,
    forgotten: i % 32 === 0 ? 0.02 : 0,
  }));
}

test("what is copied from cell to cell is what each would have learned, to the last digit", () => {
  let [cells, oneByOne]: [Cells, Cells] = [freshCells(-0.22), freshCells(-0.22)];
  for (const weighing of lives(200)) {
    cells = weigh(knees, cells, weighing);
    oneByOne = weighedOneByOne(oneByOne, weighing);
    expect(cells).toEqual(oneByOne);
  }
  // It was no trivial life: many cells know something else than others.
  expect(new Set(cells.bases).size).toBeGreaterThan(100);
});

test("cells from before are as they were, whatever is learned later", () => {
  const before = freshCells(-0.22);
  const copy = structuredClone(before);
  for (const weighing of lives(3)) weigh(knees, before, weighing);
  expect(before).toEqual(copy);
});

test("points are of cells that are not ruled out, and their shares add up to one", () => {
  const cells = lives(100).reduce((now, weighing) => weigh(knees, now, weighing), freshCells(-0.22));
  const each = pointsAmong(knees, cells);
  const shares = each.filter((_, i) => i % 5 === 4);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1);
  expect(each.length % 5).toBe(0);
  expect(shares.length).toBeLessThanOrEqual(32);
});

test("a belief of another grid is not taken for one of this", () => {
  expect(isWhole(freshCells(-0.22))).toBe(true);
  expect(isWhole({ weights: [0], bases: [0] })).toBe(false);
});
