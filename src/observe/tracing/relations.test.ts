import { describe, expect, test } from "vitest";
import { node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { type PairVerdict, RelationTracker, relationOf } from "./relations.ts";
import { assembleTraces } from "./whole-traces.ts";

test("two children are parallel when their times overlap and sequential when one ends by the other's start", () => {
  const at = (startUs: number, endUs: number) => ({ startUs, endUs });
  expect(relationOf(at(0, 10), at(5, 15))).toBe("parallel");
  expect(relationOf(at(5, 15), at(0, 10))).toBe("parallel");
  expect(relationOf(at(0, 20), at(5, 15))).toBe("parallel");
  expect(relationOf(at(0, 10), at(0, 5))).toBe("parallel");
  expect(relationOf(at(0, 10), at(10, 15))).toBe("sequential");
  expect(relationOf(at(10, 15), at(0, 10))).toBe("sequential");
});

type Times = readonly [number, number];

function executions(...times: readonly (readonly [Times, Times])[]) {
  const trees = times.map(([a, b]): TreeNode => node("root", [0, 100], [node("A", a), node("B", b)]));
  const { block } = assembleTraces(trees.flatMap((tree, k) => spansOf(tree, { trace: k + 1 })));
  const rowOf = (name: string) =>
    [0, 1, 2].find((row) => block.names.text(block.spans.service[row] as number) === name) as number;
  return { block, root: rowOf("root"), A: rowOf("A"), B: rowOf("B") };
}

function verdicts(times: readonly (readonly [Times, Times])[], enough = 3): readonly [PairVerdict, PairVerdict] {
  const { block, root, A, B } = executions(...times);
  const tracker = new RelationTracker({ enough });
  for (let trace = 0; trace < times.length; trace++) tracker.observe(block, trace);
  return [tracker.verdict(block, root, { first: A, second: B }), tracker.verdict(block, root, { first: B, second: A })];
}

describe("over many executions", () => {
  const inTurn: readonly [Times, Times] = [
    [10, 20],
    [20, 30],
  ];
  const otherWay: readonly [Times, Times] = [
    [20, 30],
    [10, 20],
  ];
  const beside: readonly [Times, Times] = [
    [10, 25],
    [20, 30],
  ];

  test("a pair is sequential when the same one always ended first", () => {
    expect(verdicts([inTurn, inTurn, inTurn])).toEqual(["first-then-second", "second-then-first"]);
    expect(verdicts([otherWay, otherWay, otherWay])).toEqual(["second-then-first", "first-then-second"]);
  });

  test("one overlap makes it parallel", () => {
    expect(verdicts([inTurn, inTurn, beside])).toEqual(["parallel", "parallel"]);
  });

  test("turns in either order are not a happens-before, and not parallel either", () => {
    expect(verdicts([inTurn, otherWay, inTurn])).toEqual(["either-order", "either-order"]);
  });

  test("nothing is said before there were enough", () => {
    expect(verdicts([inTurn, inTurn, inTurn], 4)).toEqual(["unknown", "unknown"]);
  });

  test("a child that outlives its parent in a tenth of them is background, also where it ended in time", () => {
    const outlives: readonly [Times, Times] = [
      [10, 20],
      [20, 150],
    ];
    const ten = [...Array.from({ length: 9 }, () => inTurn), outlives];
    const { block, root, A, B } = executions(...ten);
    const tracker = new RelationTracker({ enough: 10 });
    for (let trace = 0; trace < 9; trace++) tracker.observe(block, trace);
    expect(tracker.isBackground(block, root, B)).toBe(false);
    tracker.observe(block, 9);
    expect(tracker.isBackground(block, root, B)).toBe(true);
    expect(tracker.isBackground(block, root, A)).toBe(false);
    const stricter = new RelationTracker({ enough: 10, backgroundShare: 0.11 });
    for (let trace = 0; trace < 10; trace++) stricter.observe(block, trace);
    expect(stricter.isBackground(block, root, B)).toBe(false);
  });

  test("no more pairs are kept than allowed", () => {
    const { block, root, A, B } = executions(inTurn, inTurn, inTurn);
    const tracker = new RelationTracker({ enough: 1, mostPairs: 0 });
    tracker.observe(block, 0);
    expect(tracker.verdict(block, root, { first: A, second: B })).toBe("unknown");
  });
});

test("an overlap that clocks may have made does not make a pair parallel; of two short ones it says nothing", () => {
  const skewed: readonly [Times, Times] = [
    [1_000, 5_000],
    [4_600, 9_000],
  ];
  const short: readonly [Times, Times] = [
    [1_000, 1_500],
    [1_100, 9_000],
  ];
  const verdictOf = (times: readonly (readonly [Times, Times])[], skewUs: number) => {
    const { block, root, A, B } = executions(...times);
    const tracker = new RelationTracker({ enough: 2, skewUs });
    for (let trace = 0; trace < times.length; trace++) tracker.observe(block, trace);
    return tracker.verdict(block, root, { first: A, second: B });
  };
  expect(verdictOf([skewed, skewed], 0)).toBe("parallel");
  expect(verdictOf([skewed, skewed], 1_000)).toBe("first-then-second");
  expect(verdictOf([skewed, skewed], 300)).toBe("parallel");
  expect(verdictOf([skewed, short, skewed], 1_000)).toBe("first-then-second");
  expect(verdictOf([short, short], 1_000)).toBe("unknown");
});

test("a child that ends after its parent by no more than clocks may be apart has not outlived it", () => {
  const late: readonly [Times, Times] = [
    [10, 20],
    [20, 400],
  ];
  const isBackground = (skewUs: number): boolean => {
    const { block, root, B } = executions(late, late);
    const tracker = new RelationTracker({ enough: 2, skewUs });
    for (let trace = 0; trace < 2; trace++) tracker.observe(block, trace);
    return tracker.isBackground(block, root, B);
  };
  // Its parent ends at 100.
  expect(isBackground(0)).toBe(true);
  expect(isBackground(299)).toBe(true);
  expect(isBackground(300)).toBe(false);
});
