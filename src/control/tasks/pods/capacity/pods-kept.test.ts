import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import { podsAtFirst, podsFor } from "./pods-kept.ts";
import type { Points } from "./points.ts";

/** A lone request uses 500 millicores at once, and 300 have to be free. */
const points: Points = {
  each: Float64Array.of(Math.log(500), Math.log(300), Number.POSITIVE_INFINITY, -0.25, 1),
  noise: 1,
};
const MINUTE = 60_000;
const asked = (now: number, load: number) => ({
  now: now as Ms,
  need: { load, work: 50 },
  pods: { min: 2, max: 12 },
  cpu: { min: 100, max: 4_000 },
});

test("within a minute the count stays, whatever comes", () => {
  const kept = podsFor(points, podsAtFirst(2, 0 as Ms), asked(0, 10));
  expect(podsFor(points, kept, asked(30_000, 300))).toBe(kept);
});

test("more pods come at once, fewer only after half an hour", () => {
  const more = podsFor(points, podsAtFirst(2, 0 as Ms), asked(0, 300));
  expect(more.count).toBeGreaterThan(2);
  expect(podsFor(points, more, asked(29 * MINUTE, 10)).count).toBe(more.count);
  expect(podsFor(points, more, asked(31 * MINUTE, 10)).count).toBeLessThan(more.count);
});

test("where fewer were soon too few it takes twice as long until that is tried again", () => {
  const fewer = podsFor(points, podsAtFirst(6, 0 as Ms), asked(0, 10));
  expect(fewer.count).toBeLessThan(6);
  const back = podsFor(points, fewer, asked(5 * MINUTE, 500));
  expect(back).toMatchObject({ stay: 60 * MINUTE, until: 65 * MINUTE });
});
