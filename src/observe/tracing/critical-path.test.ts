import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameAt, node, spansOf, type TreeNode } from "../../../test/fixtures/traces/span-tree.ts";
import { criticalPath } from "./critical-path.ts";
import { printedCriticalPath } from "./printed-path.ts";
import { RelationTracker } from "./relations.ts";
import { assembleTraces } from "./whole-traces.ts";

/** `name exclusive` of each span on the path. */
function pathOf(tree: TreeNode, options: Parameters<typeof criticalPath>[2] = {}): string[] {
  const { block } = assembleTraces(spansOf(tree));
  const { spans, exclusiveUs } = criticalPath(block, 0, options);
  return spans.map((span, k) => `${nameAt(block, span)} ${exclusiveUs[k]}`);
}

const printed = (tree: TreeNode): string[] => {
  const { block } = assembleTraces(spansOf(tree));
  return printedCriticalPath(block).map((span) => nameAt(block, span));
};

/** Figure 2.1(b): V, U and T in parallel, I right after U, then C; W is started and not waited for. */
const postCompose = (ends: { v: number; u: number; i: number; t: number }) => {
  const joined = Math.max(ends.v, ends.i, ends.t);
  return node(
    "N",
    [0, joined + 10],
    [
      node("V", [10, ends.v]),
      node("U", [10, ends.u]),
      node("I", [ends.u, ends.i]),
      node("T", [10, ends.t]),
      node("C", [joined, joined + 8]),
      node("W", [joined + 2, joined + 200]),
    ],
  );
};

describe("the critical path", () => {
  test("of one span is that span", () => {
    expect(pathOf(node("root", [5, 25]))).toEqual(["root 20"]);
  });

  test("takes of two overlapping children the last to end, and gives the rest to the parent", () => {
    // root 0..100 calls A 10..40 and B 30..90: B ends last, A overlaps it. 0..30 and 90..100 are the root's own.
    expect(pathOf(node("root", [0, 100], [node("A", [10, 40]), node("B", [30, 90])]))).toEqual(["root 40", "B 60"]);
  });

  test("moves to whichever of the parallel services is slow", () => {
    expect(pathOf(postCompose({ v: 90, u: 40, i: 60, t: 50 }))).toEqual(["N 12", "V 80", "C 8"]);
    expect(pathOf(postCompose({ v: 50, u: 70, i: 85, t: 50 }))).toEqual(["N 12", "U 60", "I 15", "C 8"]);
    expect(pathOf(postCompose({ v: 50, u: 40, i: 60, t: 95 }))).toEqual(["N 12", "T 85", "C 8"]);
  });

  test("moves its reference to each accepted child, where the printed form takes every child before the last", () => {
    const tree = postCompose({ v: 90, u: 40, i: 60, t: 50 });
    expect(printed(tree)).toEqual(["N", "C", "V", "T", "U", "I"]);
    expect(pathOf(tree).map((step) => step.split(" ")[0])).toEqual(["N", "V", "C"]);
  });

  test("counts a child that ends exactly where the next begins as before it", () => {
    expect(pathOf(node("root", [0, 30], [node("A", [0, 10]), node("B", [10, 30])]))).toEqual([
      "root 0",
      "A 10",
      "B 20",
    ]);
  });

  test("forgives an overlap of a hundredth of the parent's time and cuts it off", () => {
    const tree = node("root", [0, 1000], [node("A", [0, 505]), node("B", [500, 1000])]);
    expect(pathOf(tree)).toEqual(["root 0", "A 500", "B 500"]);
    expect(pathOf(tree, { allowance: 0 })).toEqual(["root 500", "B 500"]);
  });

  test("goes down through calls within calls, and back up between them", () => {
    const tree = node(
      "root",
      [0, 100],
      [node("A", [5, 45], [node("A1", [10, 20]), node("A2", [25, 40])]), node("B", [50, 95], [node("B1", [60, 90])])],
    );
    expect(pathOf(tree)).toEqual(["root 15", "A 15", "A1 10", "A2 15", "B 15", "B1 30"]);
  });

  test("leaves out a consumer of a message even when it happens to end in time", () => {
    const tree = node(
      "root",
      [0, 100],
      [node("send", [10, 20], [node("work", [12, 18], [], { kind: "consumer" })], { kind: "producer" })],
    );
    expect(pathOf(tree)).toEqual(["root 90", "send 10"]);
  });

  test("follows a link to what a span waited for, with the time in the queue given to the caller", () => {
    // The job A is sent as a message at 5 and received at 10; J begins when A is done, and says so by a link.
    const job = node("A", [10, 38], [], { kind: "consumer" });
    const linked = node(
      "root",
      [0, 100],
      [node("send", [0, 5], [job], { kind: "producer" }), node("J", [40, 90], [], { links: ["A"] })],
    );
    expect(pathOf(linked)).toEqual(["root 17", "send 5", "A 28", "J 50"]);
    const plain = { ...linked, children: [linked.children[0]!, node("J", [40, 90])] };
    expect(pathOf(plain)).toEqual(["root 45", "send 5", "J 50"]);
  });

  test("ignores links to other traces, to spans that are not there, and to what ended later", () => {
    const tree = node("root", [0, 100], [node("A", [10, 80]), node("B", [40, 90], [], { links: ["nobody", "A"] })]);
    expect(pathOf(tree)).toEqual(["root 50", "B 50"]);
  });

  test("does not follow links in a circle", () => {
    const tree = node(
      "root",
      [0, 100],
      [
        node("A", [50, 50], [], { links: ["B"] }),
        node("B", [20, 50], [], { links: ["A"] }),
        node("C", [50, 100], [], { links: ["B", "A"] }),
      ],
    );
    expect(pathOf(tree)).toEqual(["root 20", "B 30", "C 50"]);
  });

  test("does not count a child as waited for that many executions have shown to run beside the next", () => {
    const times = [
      [10, 50, 20],
      [10, 30, 20],
      [10, 20, 30],
    ] as const;
    const executions = times.flatMap(([start, end, next], k) =>
      spansOf(node("root", [0, 100], [node("A", [start, end]), node("B", [next, 90])]), { trace: k + 1 }),
    );
    const { block } = assembleTraces(executions);
    const names = (path: { readonly spans: readonly number[] }) => path.spans.map((span) => nameAt(block, span, 2));
    expect(names(criticalPath(block, 2))).toEqual(["root", "A", "B"]);
    const tracker = new RelationTracker({ enough: 3 });
    for (let trace = 0; trace < 3; trace++) tracker.observe(block, trace);
    expect(names(criticalPath(block, 2, { relations: tracker }))).toEqual(["root", "B"]);
  });

  test("survives a trace as deep as it is long, and a span with twenty thousand children", () => {
    let deep = node("leaf", [0, 10]);
    for (let k = 0; k < 20_000; k++) deep = node("step", [0, 10], [deep]);
    expect(pathOf(deep)).toHaveLength(20_001);
    const wide = node(
      "root",
      [0, 20_000],
      Array.from({ length: 20_000 }, (_, k) => node("child", [k, k + 1])),
    );
    expect(pathOf(wide)).toHaveLength(20_001);
  });
});

/** A tree of spans within their parents' times: nothing is skewed and nothing runs in the background. */
const nestedTree = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 40 }).map((picks) => {
  interface Draft {
    readonly name: string;
    readonly start: number;
    readonly end: number;
    readonly children: Draft[];
  }
  const drafts: Draft[] = [{ name: "s0", start: 0, end: 200, children: [] }];
  for (const [whose, from, length] of picks) {
    const parent = drafts[whose % drafts.length]!;
    const start = parent.start + (from % (parent.end - parent.start + 1));
    const end = start + (length % (parent.end - start + 1));
    const draft = { name: `s${drafts.length}`, start, end, children: [] };
    parent.children.push(draft);
    drafts.push(draft);
  }
  const freeze = (draft: Draft): TreeNode => node(draft.name, [draft.start, draft.end], draft.children.map(freeze));
  return freeze(drafts[0]!);
});

/** Any times at all. */
const wildTree = fc
  .array(fc.tuple(fc.nat(), fc.nat(300), fc.nat(300), fc.option(fc.nat())), { maxLength: 30 })
  .map((picks) => {
    const spans = spansOf(node("s0", [100, 200]));
    for (const [whose, start, length, link] of picks) {
      const parent = spans[whose % spans.length]!;
      const linked = link === null ? undefined : spans[link % spans.length]!;
      spans.push({
        ...spans[0]!,
        spanId: (spans.length + 1).toString(16).padStart(16, "0"),
        parentId: parent.spanId,
        service: `s${spans.length}`,
        instance: `i${spans.length % 3}`,
        startUs: start,
        endUs: start + length,
        ...(linked === undefined ? {} : { links: [{ traceId: linked.traceId, spanId: linked.spanId }] }),
      });
    }
    return spans;
  });

/** The definition, written as it is read: who ended last by now, again and again. */
function longestWait(at: TreeNode, upTo: number, into: Map<string, number>): void {
  let now = upTo;
  for (;;) {
    const done = at.children.filter((child) => child.endUs <= now && child.startUs < now);
    const last = done.sort((a, b) => b.endUs - a.endUs || a.startUs - b.startUs)[0];
    if (last === undefined) break;
    into.set(at.name, (into.get(at.name) ?? 0) + now - last.endUs);
    longestWait(last, last.endUs, into);
    now = last.startUs;
  }
  into.set(at.name, (into.get(at.name) ?? 0) + now - at.startUs);
}

describe("for every trace", () => {
  test("exclusive times are those of the definition, and sum to the root's duration", () => {
    fc.assert(
      fc.property(nestedTree, (tree) => {
        const expected = new Map<string, number>();
        longestWait(tree, tree.endUs, expected);
        const { block } = assembleTraces(spansOf(tree));
        const { spans, exclusiveUs } = criticalPath(block, 0, { allowance: 0 });
        const found = new Map(spans.map((span, k) => [nameAt(block, span), exclusiveUs[k] as number]));
        const took = (times: Map<string, number>) => [...times].filter(([, time]) => time > 0).sort();
        expect(took(found)).toEqual(took(expected));
        expect(exclusiveUs.reduce((sum, time) => sum + time, 0)).toBe(tree.endUs - tree.startUs);
      }),
    );
  });

  test("segments tile the root's time without gap or overlap, whatever the times and links are", () => {
    fc.assert(
      fc.property(wildTree, fc.constantFrom(0, 0.01, 0.5), (spans, allowance) => {
        const { block } = assembleTraces(spans);
        const { segments } = criticalPath(block, 0, { allowance });
        let at = block.spans.startUs[0] as number;
        for (const { fromUs, toUs } of segments) {
          expect(fromUs).toBe(at);
          expect(toUs).toBeGreaterThan(fromUs);
          at = toUs;
        }
        expect(at).toBe(block.spans.endUs[0]);
      }),
    );
  });

  test("the path does not depend on the order in which spans came", () => {
    fc.assert(
      fc.property(
        wildTree.chain((spans) =>
          fc.tuple(fc.constant(spans), fc.shuffledSubarray(spans, { minLength: spans.length })),
        ),
        ([spans, shuffled]) => {
          const [a, b] = [assembleTraces(spans).block, assembleTraces(shuffled).block];
          const steps = (block: typeof a) =>
            criticalPath(block).segments.map(({ span, ...times }) => ({ name: nameAt(block, span), ...times }));
          expect(steps(b)).toEqual(steps(a));
        },
      ),
    );
  });

  test("every span of the corrected path within nested times is no longer on it than it took", () => {
    fc.assert(
      fc.property(nestedTree, (tree) => {
        const { block } = assembleTraces(spansOf(tree));
        const { spans, exclusiveUs } = criticalPath(block);
        spans.forEach((span, k) => {
          const duration = (block.spans.endUs[span] as number) - (block.spans.startUs[span] as number);
          expect(exclusiveUs[k]).toBeLessThanOrEqual(duration);
        });
      }),
    );
  });
});

describe("clocks that are apart", () => {
  // In sequence, but B's clock is 400 µs behind, so that it seems to begin before A ends.
  const skewed = node("root", [0, 20_000], [node("A", [1_000, 9_000]), node("B", [8_600, 19_000])]);

  test("do not take a sibling off the path", () => {
    expect(pathOf(skewed)).toEqual(["root 9600", "B 10400"]);
    expect(pathOf(skewed, { skewUs: 1_000 })).toEqual(["root 2000", "A 7600", "B 10400"]);
  });

  test("do not take a child off the path that seems to end after its parent", () => {
    const late = node("root", [0, 20_000], [node("A", [1_000, 20_400])]);
    expect(pathOf(late)).toEqual(["root 20000"]);
    expect(pathOf(late, { skewUs: 1_000 })).toEqual(["root 1000", "A 19000"]);
    expect(pathOf(late, { skewUs: 300 })).toEqual(["root 20000"]);
  });

  test("are not blamed for an overlap of most of a sibling, nor within one instance", () => {
    const short = node("root", [0, 20_000], [node("A", [8_500, 9_000]), node("B", [8_600, 19_000])]);
    expect(pathOf(short, { skewUs: 1_000 })).toEqual(["root 9600", "B 10400"]);
    const one = { instance: "same" };
    const own = node("root", [0, 20_000], [node("A", [1_000, 9_000], [], one), node("B", [8_600, 19_000], [], one)]);
    expect(pathOf(own, { skewUs: 1_000 })).toEqual(["root 9600", "B 10400"]);
  });
});
