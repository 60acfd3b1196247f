import { describe, expect, test } from "vitest";
import { analysed } from "../../../test/fixtures/traces/analysed.ts";
import { node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { type Deviation, Habits, noDeviation } from "./habits.ts";
import { MarkNames, type SpanMarks } from "./span-marks.ts";
import { timesOf } from "./trace-times.ts";

/** Root waits for a, which waits for b, and for c; four instances, so that the middle one is as ever. */
const usual = (own: Partial<Record<"a" | "b" | "c", number>> = {}): TreeNode => {
  const { a = 0, b = 0, c = 0 } = own;
  return node(
    "root",
    [0, 500 + a + b + c],
    [
      node("a", [100, 300 + a + b], [node("b", [150, 250 + b])]),
      node("c", [350 + a + b, 450 + a + b + c], [node("d", [360 + a + b, 400 + a + b])]),
    ],
  );
};

function compared(normal: () => TreeNode, now: () => TreeNode, count = 200): ReadonlyMap<string, Deviation> {
  const names = new MarkNames();
  const habits = new Habits(names);
  const marksOf = (tree: TreeNode) => timesOf(analysed(spansOf(tree)), 0, names).marks as SpanMarks;
  const [before, after] = [marksOf(normal()), marksOf(now())];
  for (let k = 0; k < count; k++) {
    habits.enter(before);
    habits.leave(before, { isCalm: true });
  }
  for (let k = 0; k < count; k++) habits.enter(after);
  return habits.deviations();
}

/** What chance allows between two samples of 200: twice the spread of Cliff's delta. */
const ALLOWED = 2 * Math.sqrt(2 / 200 / 3);

describe("what an operation does that it never did", () => {
  test("as ever is no deviation", () => {
    const found = compared(usual, usual);
    expect([...found.keys()].sort()).toEqual(["a-0", "b-0", "c-0", "d-0", "root-0"]);
    for (const deviation of found.values()) expect(deviation).toEqual(noDeviation);
  });

  test("who works longer is slower, and those that wait for it are not", () => {
    const found = compared(usual, () => usual({ b: 400 }));
    expect(found.get("b-0")?.slower).toBeCloseTo(1 - ALLOWED, 9);
    expect(found.get("a-0")?.slower).toBe(0);
    expect(found.get("root-0")?.slower).toBe(0);
  });

  test("who works less long is faster", () => {
    const found = compared(() => usual({ b: 400 }), usual);
    expect(found.get("b-0")).toMatchObject({ slower: 0 });
    expect(found.get("b-0")?.faster).toBeCloseTo(1 - ALLOWED, 9);
  });

  test("what is slower everywhere is nobody's own", () => {
    const slow = () =>
      node(
        "root",
        [0, 5_000],
        [
          node("a", [1_000, 3_000], [node("b", [1_500, 2_500])]),
          node("c", [3_500, 4_500], [node("d", [3_600, 4_000])]),
        ],
      );
    for (const { slower } of compared(usual, slow).values()) expect(slower).toBe(0);
  });

  test("the deepest of those that no longer call as they did has changed", () => {
    // a fails before it calls b; the root then does not call c.
    const failing = () => node("root", [0, 200], [node("a", [100, 150])]);
    const found = compared(usual, failing);
    expect(found.get("a-0")?.changed).toBeGreaterThan(0.8);
    expect(found.get("root-0")?.changed).toBe(0);
    // The root stops after a, where it used to stop after c.
    expect(found.get("a-0")?.stops).toBeGreaterThan(0.8);
    expect(found.get("c-0")?.stops ?? 0).toBe(0);
  });

  test("a handful of requests deviates from nothing", () => {
    for (const deviation of compared(usual, () => usual({ b: 400 }), 9).values())
      expect(deviation).toEqual(noDeviation);
  });
});

test("with client spans the way to an instance is told from the work of both ends", () => {
  const called = (way: number): TreeNode =>
    node(
      "root",
      [0, 1_000],
      [
        node("root", [100, 500 + way], [node("a", [200, 400])], { kind: "client" }),
        node("root", [600 + way, 900 + way], [node("c", [700 + way, 800 + way])], { kind: "client" }),
      ],
    );
  const found = compared(
    () => called(0),
    () => called(3_000),
  );
  expect(found.get("a-0")?.slowTo).toBeCloseTo(1 - ALLOWED, 9);
  expect(found.get("a-0")?.slower).toBe(0);
  expect(found.get("c-0")?.slowTo).toBe(0);
});
