import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import type { Cure } from "./cure.ts";
import { cureAfter, isOver } from "./cure.ts";

const minutes = (n: number): Ms => (60_000 * n) as Ms;
const calm = { have: 0, isGrowing: false, isHopeless: false, isMissed: false };
const grown = cureAfter(null, { ...calm, now: minutes(0), have: 8_000, isGrowing: true }) as Cure;
const later = (before: Cure | null, n: number, more: Partial<typeof calm> = {}) =>
  cureAfter(before, { ...calm, now: minutes(n), ...more });

test("nothing is held where nothing grew, and what grew is held for ten minutes", () => {
  expect(cureAfter(null, { ...calm, now: minutes(0), have: 8_000, isMissed: true })).toBeNull();
  expect(grown).toMatchObject({ cores: 8_000, most: 8_000, until: minutes(10) });
  expect(later(grown, 10)).toMatchObject({ cores: 8_000 });
  // It goes on growing: the most that there was counts, from then on.
  expect(later(grown, 2, { have: 12_000, isGrowing: true })).toMatchObject({ cores: 12_000, until: minutes(12) });
});

test("then a tenth goes in two minutes, however often it is looked at", () => {
  // 8,000 times 0.9 is 7,200, and times 0.9 again is 6,480.
  expect(later(grown, 12)?.cores).toBeCloseTo(7_200, 6);
  expect(later(later(later(grown, 11), 13), 14)?.cores).toBeCloseTo(6_480, 6);
});

test("a miss on the way down gives some back, once, and the next attempt waits twice as long", () => {
  const missed = later(later(grown, 14), 14, { isMissed: true }) as Cure;
  // 6,480 times 1.15 is 7,452.
  expect(missed.cores).toBeCloseTo(7_452, 6);
  expect(missed).toMatchObject({ pause: minutes(20), until: minutes(34) });
  expect(later(missed, 15, { isMissed: true })?.cores).toBeCloseTo(7_452, 6);
  // Still missed two minutes after: what cured is the most, and 7,452 times 1.15 would be 8,570.
  expect(later(missed, 16, { isMissed: true })).toMatchObject({ cores: 8_000, pause: minutes(20), until: minutes(36) });
});

test("an overload on the way down leads straight back to what cured the one before, for longer", () => {
  const again = later(later(grown, 30), 30, { have: 4_000, isGrowing: true });
  expect(again).toMatchObject({ cores: 8_000, pause: minutes(20), until: minutes(50) });
});

test("pauses end: never more than forty minutes", () => {
  let cure: Cure | null = grown;
  for (const n of [11, 60, 120, 200]) cure = later(cure, n, { isMissed: true });
  expect(cure).toMatchObject({ pause: minutes(40), until: minutes(240) });
});

test("what was no cure is not held, and neither is it after a clock that goes back", () => {
  expect(later(grown, 21, { isHopeless: true })).toBeNull();
  expect(later(later(grown, 5), 4)).toBeNull();
});

test("it is over where the plan is no less, but not before anything was given back", () => {
  expect(isOver(grown, { now: minutes(9), planned: 9_000, cores: 8_000 })).toBe(false);
  expect(isOver(grown, { now: minutes(10), planned: 9_000, cores: 8_000 })).toBe(true);
  expect(isOver(grown, { now: minutes(10), planned: 7_000, cores: 8_000 })).toBe(false);
});
