import { describe, expect, test } from "vitest";
import { analysed } from "../../../test/fixtures/traces/analysed.ts";
import { node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { timesOf } from "./trace-times.ts";

function partsOf(tree: TreeNode) {
  const { parts, ways, totalUs } = timesOf(analysed(spansOf(tree)), 0);
  const wayTo = (callee: string) =>
    ways.filter((way) => way.callee === callee).reduce((sum, way) => sum + way.wayUs, 0);
  const times = Object.fromEntries(
    parts.map(({ instance, ownUs, isBackground }) => [instance, [ownUs, wayTo(instance), isBackground]]),
  );
  return { totalUs, times, ways };
}

describe("one request's time divided among instances", () => {
  test("own times on the critical path sum to the request's", () => {
    // root 0..100 waits for a 10..40, then b 50..90; own: 10 + 10 + 10.
    const { totalUs, times } = partsOf(node("root", [0, 100], [node("a", [10, 40]), node("b", [50, 90])]));
    expect(totalUs).toBe(100);
    // The way to a: 10 before, 10 after. The way to b: 10 before, 10 after.
    expect(times).toEqual({ "root-0": [30, 0, false], "a-0": [30, 20, false], "b-0": [40, 20, false] });
  });

  test("a way is no longer than twice the shorter side, since the caller may have worked on the longer one", () => {
    // Before a: 60 of the root's own; after it: 5.
    const { times } = partsOf(node("root", [0, 100], [node("a", [60, 95])]));
    expect(times).toEqual({ "root-0": [65, 0, false], "a-0": [35, 10, false] });
  });

  test("a delay between two calls belongs to the one whose both sides are long", () => {
    // a 20..40, then b 60..80, end 82: 20 before a, 20 between, 2 after b.
    const { times } = partsOf(node("root", [0, 82], [node("a", [20, 40]), node("b", [60, 80])]));
    expect(times["a-0"]).toEqual([20, 40, false]);
    expect(times["b-0"]).toEqual([20, 4, false]);
  });

  test("what a client span waits beside its server is the way to the server, and not the caller's own", () => {
    // caller 0..100, its client span 10..90, the server 30..80: the way is 20 + 10.
    const tree = node(
      "caller",
      [0, 100],
      [
        node("client", [10, 90], [node("server", [30, 80], [], { kind: "server" })], {
          kind: "client",
          instance: "caller-0",
        }),
      ],
    );
    expect(partsOf(tree).times).toEqual({ "caller-0": [20, 0, false], "server-0": [50, 30, false] });
  });

  test("a parallel sibling that is not waited for has no part", () => {
    const { times } = partsOf(node("root", [0, 100], [node("short", [10, 40]), node("long", [10, 90])]));
    expect(Object.keys(times)).toEqual(["root-0", "long-0"]);
  });

  test("background work counts by its own time, without what it calls itself", () => {
    // write 90..200 outlives the root and calls store 120..180 and queue 185..190.
    const tree = node(
      "root",
      [0, 100],
      [node("write", [90, 200], [node("store", [120, 180]), node("queue", [185, 190])])],
    );
    expect(partsOf(tree).times).toEqual({
      "root-0": [100, 0, false],
      "write-0": [45, 0, true],
      "store-0": [60, 0, true],
      "queue-0": [5, 0, true],
    });
  });

  test("an instance that is waited for in one place and not in another is not in the background", () => {
    const tree = node(
      "root",
      [0, 100],
      [node("first", [10, 40], [], { instance: "x" }), node("later", [90, 200], [], { instance: "x" })],
    );
    expect(partsOf(tree).times.x).toEqual([30, 20, false]);
  });

  test("ways are told by who calls whom, with how often", () => {
    const twice = node(
      "root",
      [0, 100],
      [node("a", [10, 20], [], { instance: "x" }), node("b", [30, 50], [], { instance: "x" })],
    );
    // 10 before and 10 between; 10 between and 50 after.
    expect(partsOf(twice).ways).toEqual([{ caller: "root-0", callee: "x", isApart: false, calls: 2, wayUs: 20 + 20 }]);
  });
});
