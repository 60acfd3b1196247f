import { expect, test } from "vitest";
import { knownKnees } from "./known-knees.ts";

test("known applications are kept with what they looked like and what was believed of them, the same each time", () => {
  const make = () => knownKnees({ seed: 1_000, applications: 3, steps: 80 }, 1);
  const model = make();
  expect(model.known.map(({ name }) => name)).toContain("known-1000-0");
  expect(model.spread).toHaveLength(5);
  for (const { looks, knees } of model.known) {
    expect(looks).toHaveLength(5);
    expect(knees.reduce((sum, [, , , share]) => sum + share, 0)).toBeCloseTo(1, 1);
  }
  // Plain data, through JSON and back: it is kept with a study.
  expect(JSON.parse(JSON.stringify(make()))).toEqual(model);
});
