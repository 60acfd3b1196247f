import { expect, test } from "vitest";
import { type Curve, convergedAfter } from "./training-curves.ts";

const curve = (...rewards: readonly number[]): Curve =>
  rewards.map((reward, i) => ({ episodes: 10 * i, reward, missedShare: 0 }));

test("a curve has converged where it has made 95 % of the reference's way and stays there", () => {
  const reference = curve(2, 3, 3.96, 3, 3.96, 4);
  // The level is 2 + 0.95 · 2 = 3.9: reached at 20, lost at 30, kept from 40 on.
  expect(convergedAfter(reference, reference)).toBe(40);
  expect(convergedAfter(curve(3.9, 3.95), reference)).toBe(0);
  expect(convergedAfter(curve(3, 3.95), reference)).toBe(10);
});

test("a curve that never gets there counts with all of its episodes", () => {
  expect(convergedAfter(curve(1, 2, 3), curve(2, 4))).toBe(20);
});
