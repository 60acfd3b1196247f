import { expect, test } from "vitest";
import { nameAt, node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { printedCriticalPath } from "./printed-path.ts";
import { assembleTraces } from "./whole-traces.ts";

const printed = (tree: TreeNode): string[] => {
  const { block } = assembleTraces(spansOf(tree));
  return printedCriticalPath(block).map((span) => nameAt(block, span));
};

test("a span without children is its own path", () => {
  expect(printed(node("root", [0, 10]))).toEqual(["root"]);
});

test("the last returned child comes first, then every child that ended by its start, each with its own path", () => {
  const tree = node(
    "root",
    [0, 100],
    [
      node("A", [0, 20], [node("A1", [5, 10]), node("A2", [10, 15])]),
      node("B", [10, 30]),
      node("C", [30, 60]),
      node("D", [50, 90], [node("D1", [55, 80])]),
    ],
  );
  // D returns last and calls D1. A and B ended by 50 though they overlap; C did not. Within A, A2 is last and A1 before it.
  expect(printed(tree)).toEqual(["root", "D", "D1", "A", "A2", "A1", "B"]);
});

test("a child that outlives its parent has not returned", () => {
  expect(printed(node("root", [0, 100], [node("A", [10, 40]), node("W", [20, 150])]))).toEqual(["root", "A"]);
  expect(printed(node("root", [0, 100], [node("W", [20, 150])]))).toEqual(["root"]);
});

test("a child that ends at the very start of the last one happens before it", () => {
  expect(printed(node("root", [0, 100], [node("A", [10, 40]), node("B", [40, 90])]))).toEqual(["root", "B", "A"]);
});
