import { expect, test } from "vitest";
import { episodesToLevel } from "./converge.ts";

const options = { window: 2, level: 2, within: 0.1 };

test("a curve is at its level from the first window that reaches nine tenths of where it ends", () => {
  // The level is 100. Windows: (20+60)/2, (60+85)/2, (85+96)/2 = 90.5.
  expect(episodesToLevel([20, 60, 85, 96, 100, 100], options)).toBe(2);
});

test("a curve that begins at its level took no time", () => {
  expect(episodesToLevel([99, 99, 99, 100, 100], options)).toBe(0);
});

test("a curve that only gets there at its end took all the time there was before", () => {
  expect(episodesToLevel([10, 10, 10, 10, 100, 100], options)).toBe(4);
});

test("a single lucky episode is no level", () => {
  expect(episodesToLevel([10, 120, 10, 90, 100, 100, 100], options)).toBe(3);
});

test("the last episodes, which are the level, do not speak for those before", () => {
  // The window of 80 and 100 would reach 90, but its 100 is one of the two that the level is made of.
  expect(episodesToLevel([10, 10, 10, 10, 80, 100, 100], options)).toBe(5);
});
