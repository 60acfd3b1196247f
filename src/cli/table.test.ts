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

test("a table that is too wide is wrapped, the widest columns first, and loses no word", () => {
  const claim = "at least four hundred and seventy five of five hundred points";
  const rows = [["ppo", claim, "yes"]];
  const text = renderTable([{ head: "what" }, { head: "claim" }, { head: "holds" }], rows, { maxWidth: 50 });
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(50);
  expect(text.replaceAll(/\s+/g, " ")).toContain("yes");
  for (const word of claim.split(" ")) expect(text).toContain(word);
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
