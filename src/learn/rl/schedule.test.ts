import { expect, test } from "vitest";
import { annealed, constant, valueAt } from "./schedule.ts";

test("a schedule runs in a straight line over its fraction and then stays", () => {
  const epsilon = { from: 1, to: 0.2, fraction: 0.5 };
  expect(valueAt(epsilon, 0)).toBe(1);
  expect(valueAt(epsilon, 0.25)).toBeCloseTo(0.6, 12);
  expect(valueAt(epsilon, 0.5)).toBe(0.2);
  expect(valueAt(epsilon, 7)).toBe(0.2);
});

test("a constant never moves and an annealed value ends at zero", () => {
  expect([0, 0.3, 1].map((at) => valueAt(constant(3), at))).toEqual([3, 3, 3]);
  expect(valueAt(annealed(4), 0.25)).toBe(3);
  expect(valueAt(annealed(4), 1)).toBe(0);
});

test("a fraction of zero is at its end from the start", () => {
  expect(valueAt({ from: 1, to: 0.1, fraction: 0 }, 0)).toBe(0.1);
});
