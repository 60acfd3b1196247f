import { expect, test } from "vitest";
import { formatNumber, renderTable } from "./table.ts";

test("columns are aligned under a ruled head and lines end without blanks", () => {
  const text = renderTable(
    [{ head: "name" }, { head: "score", align: "right" }],
    [
      ["ppo", "475"],
      ["dqn", "9"],
    ],
  );
  expect(text.split("\n")).toEqual([" name   score", "──────────────", " ppo      475", " dqn        9"]);
});

test.each([
  [0, "0"],
  [475.3219, "475.3"],
  [-0.012345, "-0.01235"],
  [12345.6, "12,346"],
  [0.00001234, "1.23e-5"],
  [500, "500"],
])("%d reads %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
