import { expect, test, vi } from "vitest";

vi.mock("../theme.ts", () => ({ colour: () => "black" }));
const { peaksAbove } = await import("./plot-drawing.ts");

test("of every stretch above the top the highest is kept, also of one that does not end", () => {
  expect(peaksAbove([1, 5, 9, 7, 2, null, 6, null, 8], 4)).toEqual([
    { index: 2, value: 9 },
    { index: 6, value: 6 },
    { index: 8, value: 8 },
  ]);
  expect(peaksAbove([1, 4, null], 4)).toEqual([]);
});
