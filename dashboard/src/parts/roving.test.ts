import { expect, test } from "vitest";
import { placeAfter } from "./roving.ts";

test("arrows stay within the grid, and within a shorter row", () => {
  const widths = [2, 1, 2];
  expect(placeAfter("ArrowDown", { row: 0, column: 1 }, widths)).toEqual({ row: 1, column: 0 });
  expect(placeAfter("ArrowUp", { row: 0, column: 1 }, widths)).toEqual({ row: 0, column: 1 });
  expect(placeAfter("ArrowRight", { row: 0, column: 0 }, widths)).toEqual({ row: 0, column: 1 });
  expect(placeAfter("ArrowLeft", { row: 2, column: 0 }, widths)).toEqual({ row: 2, column: 0 });
  expect(placeAfter("End", { row: 0, column: 1 }, widths)).toEqual({ row: 2, column: 1 });
  expect(placeAfter("Home", { row: 2, column: 1 }, widths)).toEqual({ row: 0, column: 1 });
});

test("other keys are left to the page", () => {
  expect(placeAfter("Enter", { row: 0, column: 0 }, [1])).toBeNull();
});
