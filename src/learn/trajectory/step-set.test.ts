import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StepSet } from "./step-set.ts";

test("steps in order are one run, and a gap makes two", () => {
  const steps = new StepSet();
  for (const step of [0, 1, 2, 5, 6]) steps.add(step);
  expect(steps.runs).toBe(2);
  expect([0, 2, 3, 4, 5, 6, 7].map((step) => steps.has(step))).toEqual([true, true, false, false, true, true, false]);
  steps.addRun(3, 4);
  expect(steps.runs).toBe(1);
});

test("any order of runs gives the same set as a plain set of numbers", () => {
  const run = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 5 }));
  void fc.assert(
    fc.property(fc.array(run, { maxLength: 30 }), (runs) => {
      const steps = new StepSet();
      const plain = new Set<number>();
      for (const [first, more] of runs) {
        steps.addRun(first, first + more);
        for (let step = first; step <= first + more; step++) plain.add(step);
      }
      const all = Array.from({ length: 50 }, (_, step) => step);
      expect(all.filter((step) => steps.has(step))).toEqual(all.filter((step) => plain.has(step)));
      // Runs never touch, so there is one per block of neighbours.
      expect(steps.runs).toBe(all.filter((step) => plain.has(step) && !plain.has(step - 1)).length);
    }),
  );
});
