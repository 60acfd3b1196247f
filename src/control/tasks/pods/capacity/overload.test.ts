import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import type { Overload } from "./overload.ts";
import { arePodsDue, isGrowing, overloadAfter } from "./overload.ts";

const minutes = (n: number): Ms => (60_000 * n) as Ms;
const piled = { strain: 0.6, expected: -0.2 };

test("it begins where requests pile up and the model expected none of it", () => {
  expect(overloadAfter(null, { now: minutes(5), ...piled })).toEqual({ since: minutes(5), grownAt: minutes(5) });
  // Missed by little, or by as much as was expected.
  expect(overloadAfter(null, { now: minutes(5), strain: 0.3, expected: -0.2 })).toBeNull();
  expect(overloadAfter(null, { now: minutes(5), strain: 0.6, expected: 0.5 })).toBeNull();
  expect(overloadAfter(null, { now: minutes(5), strain: null, expected: -0.2 })).toBeNull();
});

test("it goes on while minutes are missed, and is over with the first that is kept", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled });
  expect(overloadAfter(begun, { now: minutes(1), strain: 0.2, expected: 0.2 })).toBe(begun);
  expect(overloadAfter(begun, { now: minutes(1), strain: null, expected: 0 })).toBe(begun);
  expect(overloadAfter(begun, { now: minutes(2), strain: -0.1, expected: 0 })).toBeNull();
});

test("for twenty minutes more is given, pods every three; an hour after that it is tried again", () => {
  const begun = overloadAfter(null, { now: minutes(0), ...piled }) as Overload;
  expect(isGrowing(begun, minutes(20))).toBe(true);
  expect(isGrowing(begun, minutes(21))).toBe(false);
  expect(arePodsDue(begun, minutes(2))).toBe(false);
  expect(arePodsDue(begun, minutes(3))).toBe(true);
  expect(overloadAfter(begun, { now: minutes(79), ...piled })).toBe(begun);
  expect(overloadAfter(begun, { now: minutes(81), ...piled })).toBeNull();
});

test("a clock that goes back ends it", () => {
  const begun = overloadAfter(null, { now: minutes(10), ...piled });
  expect(overloadAfter(begun, { now: minutes(9), ...piled })).toBeNull();
});
