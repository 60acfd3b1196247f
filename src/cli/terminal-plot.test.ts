import { expect, test } from "vitest";
import { BrailleCanvas } from "./braille-canvas.ts";
import { shortNumber, terminalPlot } from "./terminal-plot.ts";

const size = { columns: 30, rows: 8, xLabel: "steps", yLabel: "return" };

test("each of a cell's eight dots has its own bit", () => {
  const expected = ["⠁", "⠂", "⠄", "⡀", "⠈", "⠐", "⠠", "⢀"];
  const drawn = [0, 1].flatMap((x) =>
    [0, 1, 2, 3].map((y) => {
      const canvas = new BrailleCanvas(1, 1);
      canvas.dot(x, y);
      return canvas.lines()[0];
    }),
  );
  expect(drawn).toEqual(expected);
});

test("dots outside the canvas are left out, not wrapped around", () => {
  const canvas = new BrailleCanvas(2, 1);
  for (const [x, y] of [
    [-1, 0],
    [4, 0],
    [0, -1],
    [0, 4],
  ] as const)
    canvas.dot(x, y);
  expect(canvas.lines()).toEqual(["⠀⠀"]);
});

test("a line has no gaps between its ends", () => {
  const canvas = new BrailleCanvas(4, 1);
  canvas.line([0, 0], [7, 0]);
  expect(canvas.lines()).toEqual(["⠉⠉⠉⠉"]);
});

test("a rising curve begins at the bottom left and ends at the top right", () => {
  const lines = terminalPlot(
    [
      { x: 0, y: 0 },
      { x: 100, y: 10 },
    ],
    size,
  ).split("\n");
  const body = lines.slice(1, -2).map((line) => line.slice(line.indexOf("│") + 1));
  expect(body[0]?.at(-1)).not.toBe("⠀");
  expect(body[0]?.at(0)).toBe("⠀");
  expect(body.at(-1)?.at(0)).not.toBe("⠀");
  expect(body.at(-1)?.at(-1)).toBe("⠀");
});

test("axes carry their ends and labels, and nothing is wider or higher than asked", () => {
  const lines = terminalPlot(
    [
      { x: 0, y: -200 },
      { x: 30_000, y: 0 },
    ],
    size,
  ).split("\n");
  expect(lines[0]).toContain("return");
  expect(lines.at(-1)).toMatch(/0\s+30k steps$/);
  expect(lines[1]).toMatch(/^\s*0 │/);
  expect(lines.at(-3)).toMatch(/^\s*-200 │/);
  expect(lines).toHaveLength(size.rows);
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(size.columns);
});

test("no points, one point, a flat curve and broken numbers are drawn without failing", () => {
  for (const points of [
    [],
    [{ x: 1, y: 1 }],
    [
      { x: 0, y: 5 },
      { x: 1, y: 5 },
    ],
    [
      { x: 0, y: Number.NaN },
      { x: 1, y: 2 },
    ],
  ]) {
    expect(terminalPlot(points, size).split("\n")).toHaveLength(size.rows);
  }
});

test.each([
  [0, "0"],
  [475, "475"],
  [12_345, "12.3k"],
  [2_500_000, "2.5M"],
  [-0.12345, "-0.1235"],
])("%d is short as %s", (value, text) => {
  expect(shortNumber(value)).toBe(text);
});
