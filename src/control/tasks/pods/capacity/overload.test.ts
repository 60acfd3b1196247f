import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import type { Overload } from "./overload.ts";
import { arePodsDue, isGrowing, isHopeless, isLasting, isUncured, overloadAfter } from "./overload.ts";

const minutes = (n: number): Ms => (60_000 * n) as Ms;
const piled = { strain: 0.6, expected: -0.2 };
/** Missed in every minute up to this one. */
const missedFor = (n: number): Overload | null => {
  let overload: Overload | null = null;
  for (let minute = 0; minute <= n; minute++) overload = overloadAfter(overload, { now: minutes(minute), ...piled });
  return overload;
};

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
  // Missed by less than a tenth: a request or two that failed.
  expect(overloadAfter(missed, { now: minutes(2), strain: 0.05, expected: 0 })).toBe(missed);
});

test("it grows only in minutes that are missed", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled }) as Overload;
  expect(isGrowing(begun, minutes(0))).toBe(true);
  const kept = overloadAfter(begun, { now: minutes(1), strain: -0.1, expected: 0 });
  expect(isGrowing(kept, minutes(1))).toBe(false);
});

test("two minutes are more than a moment, after five it is not cured, and after twenty more is no cure", () => {
  const after = missedFor;
  expect([isLasting(null), isLasting(after(1)), isLasting(after(2))]).toEqual([false, false, true]);
  expect([4, 5, 20, 21].map((n) => isUncured(after(n)))).toEqual([false, true, true, false]);
  expect([isHopeless(null), isHopeless(after(20)), isHopeless(after(21))]).toEqual([false, false, true]);
});

test("for twenty minutes more is given, pods every three; an hour after that it is tried again", () => {
  const after = missedFor;
  expect(isGrowing(after(20), minutes(20))).toBe(true);
  expect(isGrowing(after(21), minutes(21))).toBe(false);
  const begun = after(0) as Overload;
  expect(arePodsDue(begun, minutes(2))).toBe(false);
  expect(arePodsDue(begun, minutes(3))).toBe(true);
  expect(after(79)).not.toBeNull();
  expect(after(81)).toBeNull();
});

test("after two minutes that were kept a miss is another overload, with its own twenty minutes", () => {
  const missed = missedFor(18) as Overload;
  expect(overloadAfter(missed, { now: minutes(20), ...piled })).toEqual({ ...missed, missedAt: minutes(20) });
  const at = minutes(21);
  expect(overloadAfter(missed, { now: at, ...piled })).toEqual({ since: at, grownAt: at, missedAt: at });
});

test("a clock that goes back ends it", () => {
  const begun = overloadAfter(null, { now: minutes(10), ...piled });
  expect(overloadAfter(begun, { now: minutes(9), ...piled })).toBeNull();
});
