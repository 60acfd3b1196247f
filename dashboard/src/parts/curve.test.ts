import { expect, test } from "vitest";
import { absences } from "./curve.tsx";

const left = (at: number) => ({ at, workload: "a", kind: "left" }) as const;
const joined = (at: number) => ({ at, workload: "a", kind: "joined" }) as const;
const span = { first: 10, last: 100 };

test("one is away from a leave to the join that follows, and at the ends as far as is known", () => {
  const of = (changes: readonly ReturnType<typeof left | typeof joined>[], isPresent: boolean) =>
    absences({ changes, isPresent, ...span }).map(({ from, to }) => [from, to]);
  expect(of([], true)).toEqual([]);
  expect(of([], false)).toEqual([[10, 100]]);
  expect(of([left(20), joined(30), left(90)], false)).toEqual([
    [20, 30],
    [90, 100],
  ]);
  expect(of([joined(30), left(90), joined(95)], true)).toEqual([
    [10, 30],
    [90, 95],
  ]);
  // Before the first point of the line nothing is drawn.
  expect(of([left(5), joined(30)], true)).toEqual([[10, 30]]);
  expect(of([left(100)], false)).toEqual([]);
});
