import { expect, test } from "vitest";
import { Pacing } from "./pacing.ts";

test("at ten times the wall's speed, a moment 50 ms ahead is 5 ms away", () => {
  const pacing = new Pacing(10, { wall: 1_000, world: 0 });
  expect(pacing.wait({ wall: 1_000, world: 50 })).toBe(5);
  expect(pacing.wait({ wall: 1_005, world: 50 })).toBe(0);
});

test("a small delay is made up for, half a second or more is given up", () => {
  const late = new Pacing(10, { wall: 0, world: 0 });
  // At 400 ms the world should be at 4000; it is at 100, and the next moments come at once.
  expect(late.wait({ wall: 400, world: 100 })).toBe(0);
  expect(late.wait({ wall: 400, world: 3_990 })).toBe(0);
  const lost = new Pacing(10, { wall: 0, world: 0 });
  expect(lost.wait({ wall: 600, world: 0 })).toBe(0);
  // From here on it goes at the usual pace.
  expect(lost.wait({ wall: 600, world: 100 })).toBe(10);
});

test("the speed that is told is the one that was reached over the last second", () => {
  const pacing = new Pacing(100, { wall: 0, world: 0 });
  pacing.note({ wall: 999, world: 1 });
  expect(pacing.speed).toBe(100);
  pacing.note({ wall: 1_000, world: 40_000 });
  expect(pacing.speed).toBe(40);
});
