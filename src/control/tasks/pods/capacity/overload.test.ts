import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import type { Overload } from "./overload.ts";
import { arePodsDue, isGrowing, isHeld, overloadAfter } from "./overload.ts";

const minutes = (n: number): Ms => (60_000 * n) as Ms;
const piled = { strain: 0.6, expected: -0.2 };

test("it begins where requests pile up and the model expected none of it", () => {
  const at = minutes(5);
  expect(overloadAfter(null, { now: at, ...piled })).toEqual({ since: at, grownAt: at, missedAt: at });
  // Missed by little, or by as much as was expected.
  expect(overloadAfter(null, { now: minutes(5), strain: 0.3, expected: -0.2 })).toBeNull();
  expect(overloadAfter(null, { now: minutes(5), strain: 0.6, expected: 0.5 })).toBeNull();
  expect(overloadAfter(null, { now: minutes(5), strain: null, expected: -0.2 })).toBeNull();
});

test("it goes on while minutes are missed, and for ten minutes after the last of them", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled }) as Overload;
  const missed = overloadAfter(begun, { now: minutes(1), strain: 0.2, expected: 0.2 }) as Overload;
  expect(missed).toEqual({ ...begun, missedAt: minutes(1) });
  expect(overloadAfter(missed, { now: minutes(2), strain: null, expected: 0 })).toBe(missed);
  expect(overloadAfter(missed, { now: minutes(11), strain: -0.1, expected: 0 })).toBe(missed);
  expect(overloadAfter(missed, { now: minutes(12), strain: -0.1, expected: 0 })).toBeNull();
});

test("it grows only in minutes that are missed, and what it grew to is held in those that are kept", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled }) as Overload;
  expect([isGrowing(begun, minutes(0)), isHeld(begun)]).toEqual([true, true]);
  const kept = overloadAfter(begun, { now: minutes(1), strain: -0.1, expected: 0 });
  expect([isGrowing(kept, minutes(1)), isHeld(kept)]).toEqual([false, true]);
  expect(isHeld(null)).toBe(false);
});

test("for twenty minutes more is given, pods every three; an hour after that it is tried again", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled }) as Overload;
  const after = (n: number) => overloadAfter(begun, { now: minutes(n), ...piled });
  expect(isGrowing(after(20), minutes(20))).toBe(true);
  expect(isGrowing(after(21), minutes(21))).toBe(false);
  // What was no cure in twenty minutes is not held either.
  expect([isHeld(after(20)), isHeld(after(21))]).toEqual([true, false]);
  expect(arePodsDue(begun, minutes(2))).toBe(false);
  expect(arePodsDue(begun, minutes(3))).toBe(true);
  expect(after(79)).not.toBeNull();
  expect(after(81)).toBeNull();
});

test("a clock that goes back ends it", () => {
  const begun = overloadAfter(null, { now: minutes(10), ...piled });
  expect(overloadAfter(begun, { now: minutes(9), ...piled })).toBeNull();
});
