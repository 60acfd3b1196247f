import { expect, test } from "vitest";
import { closest, editDistance } from "./suggest.ts";

test.each([
  ["kitten", "sitting", 3],
  ["", "abc", 3],
  ["abc", "", 3],
  ["same", "same", 0],
  ["form", "from", 1],
])("%s and %s are %d edits apart", (a, b, edits) => {
  expect(editDistance(a, b)).toBe(edits);
});

test("the nearest word is suggested, a far one is not", () => {
  const known = ["rl-cartpole", "rl-pendulum", "rl-acrobot"];
  expect(closest("rl-cartpol", known)).toBe("rl-cartpole");
  expect(closest("RL-Pendulm", known)).toBe("rl-pendulum");
  expect(closest("kubernetes", known)).toBeUndefined();
  expect(closest("x", [])).toBeUndefined();
});
