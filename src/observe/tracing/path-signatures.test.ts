import { expect, test } from "vitest";
import { node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { milliseconds, seconds } from "../../base/index.ts";
import { CriticalPathFinder } from "./critical-path.ts";
import { PathChanges } from "./path-changes.ts";
import { PathSignatures, type PathSignaturesOptions } from "./path-signatures.ts";
import { assembleTraces } from "./whole-traces.ts";

function signaturesOf(trees: readonly TreeNode[], options: PathSignaturesOptions = {}) {
  const { block } = assembleTraces(trees.flatMap((tree, k) => spansOf(tree, { trace: k + 1 })));
  const signatures = new PathSignatures(options);
  const finder = new CriticalPathFinder();
  for (let trace = 0; trace < block.size; trace++) signatures.observe(block, trace, finder.find(block, trace));
  return signatures;
}

test("paths of one request type are told apart by their operations and averaged", () => {
  const viaA = (end: number) => node("root", [0, end + 10], [node("A", [10, end]), node("B", [10, 20])]);
  const viaB = node("root", [0, 100], [node("A", [10, 20]), node("B", [10, 90])]);
  const [type, ...others] = signaturesOf([viaA(50), viaB, viaA(70)]).requestTypes();
  expect(others).toEqual([]);
  expect(type).toMatchObject({ name: "root/op", requests: 3, others: 0 });
  expect(type?.paths).toEqual([
    {
      signature: "root/op > A/op",
      steps: [
        { service: "root", operation: "op" },
        { service: "A", operation: "op" },
      ],
      count: 2,
      meanUs: 70,
      longestUs: 80,
      exclusiveUs: [20, 50],
    },
    expect.objectContaining({ signature: "root/op > B/op", count: 1, exclusiveUs: [20, 80] }),
  ]);
});

test("a loop of the same call is one step, so that its length does not make another path", () => {
  const loop = (turns: number) =>
    node(
      "root",
      [0, 100],
      Array.from({ length: turns }, (_, k) => node("db", [10 * k, 10 * k + 10])),
    );
  const paths = signaturesOf([loop(2), loop(5)]).requestTypes()[0]?.paths;
  expect(paths).toHaveLength(1);
  expect(paths?.[0]).toMatchObject({ signature: "root/op > db/op", count: 2, exclusiveUs: [65, 35] });
});

test("types and paths beyond the bound are counted and not kept", () => {
  const trees = ["A", "B", "C"].map((name) => node("root", [0, 10], [node(name, [0, 10])]));
  expect(signaturesOf(trees, { mostPaths: 2 }).requestTypes()[0]).toMatchObject({ requests: 3, others: 1 });
  const roots = ["x", "y", "z"].map((name) => node(name, [0, 10]));
  const bounded = signaturesOf(roots, { mostTypes: 2 });
  expect(bounded.requestTypes()).toHaveLength(2);
  expect(bounded.refused).toBe(1);
  const inAll = signaturesOf([...trees, ...roots], { mostPathsInAll: 4 });
  expect(inAll.requestTypes().map(({ name, paths, others }) => `${name} ${paths.length} ${others}`)).toEqual([
    "root/op 3 0",
    "x/op 1 0",
    "y/op 0 1",
    "z/op 0 1",
  ]);
  inAll.clear();
  expect(inAll.requestTypes()).toEqual([]);
});

const window = seconds(10);
const at = (ms: number) => milliseconds(ms);

/** Feeds `counts` paths into the window that begins at `from`. */
function feed(changes: PathChanges, from: number, counts: Readonly<Record<string, number>>) {
  const found = [];
  for (const [signature, count] of Object.entries(counts)) {
    for (let k = 0; k < count; k++) found.push(...changes.observe({ requestType: "root/op", signature }, at(from)));
  }
  return found;
}

test("a change is reported when another path has become the usual one", () => {
  const changes = new PathChanges({ window });
  expect(feed(changes, 0, { a: 90, b: 10 })).toEqual([]);
  expect(feed(changes, 10_000, { a: 30, b: 70 })).toEqual([]);
  // b went from 10 of 100 to 70 of 100: pooled 0.4, so z = 0.6 / sqrt(0.4 · 0.6 · 0.02) = 8.66.
  const [change, ...more] = changes.advance(at(20_000));
  expect(more).toEqual([]);
  expect(change).toMatchObject({
    requestType: "root/op",
    from: "a",
    to: "b",
    shareBefore: 0.1,
    shareNow: 0.7,
    at: 20_000,
  });
  expect(change?.z).toBeCloseTo(8.66, 2);
  feed(changes, 20_000, { a: 30, b: 70 });
  expect(changes.advance(at(30_000))).toEqual([]);
});

test("chance and a handful of requests change nothing", () => {
  const changes = new PathChanges({ window });
  feed(changes, 0, { a: 51, b: 49 });
  // 49 to 52 of 100: z = 0.42.
  feed(changes, 10_000, { a: 48, b: 52 });
  expect(changes.advance(at(20_000))).toEqual([]);
  feed(changes, 20_000, { b: 19 });
  expect(changes.advance(at(30_000))).toEqual([]);
});

test("a rare request type is judged once enough of them came, over several windows", () => {
  const changes = new PathChanges({ window, enough: 20 });
  feed(changes, 0, { a: 20 });
  feed(changes, 10_000, { b: 10 });
  expect(feed(changes, 20_000, { b: 10 })).toEqual([]);
  // b went from 0 of 20 to 20 of 20: pooled 0.5, so z = 1 / sqrt(0.25 · 0.1) = 6.32.
  expect(changes.advance(at(30_000))).toEqual([expect.objectContaining({ from: "a", to: "b", shareNow: 1 })]);
});

test("a long silence ends one window, not thousands", () => {
  const changes = new PathChanges({ window });
  feed(changes, 0, { a: 30 });
  expect(feed(changes, 100_000_000, { b: 30 })).toEqual([]);
  expect(changes.advance(at(100_010_000))).toEqual([expect.objectContaining({ from: "a", to: "b" })]);
});
