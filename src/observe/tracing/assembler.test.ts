import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameAt, node, spanIdOf, spansOf, traceIdOf } from "../../../test/fixtures/traces/span-tree.ts";
import { milliseconds, seededRng } from "../../base/index.ts";
import { NameTable, type Span, SpanColumns, SpanFlag, spanColumnsOf } from "../telemetry/index.ts";
import { TraceAssembler } from "./assembler.ts";
import type { AssemblerLimits } from "./assembler-limits.ts";

const at = milliseconds;
/** The times of the spans are about 0.1 ms after the epoch, so that nothing is from the future. */
const tree = node("root", [0, 100], [node("A", [10, 40], [node("A1", [20, 30])]), node("B", [50, 90])]);

function assembler(limits: Partial<AssemblerLimits> = {}) {
  const names = new NameTable();
  const made = new TraceAssembler(names, { settle: at(1_000), rootlessWait: at(5_000), ...limits });
  return { made, admit: (spans: readonly Span[], now = 0) => made.admit(spanColumnsOf(spans, names), at(now)) };
}

/** What the sealed traces hold: names in the order of the block. */
function taken(made: TraceAssembler): string[][] {
  const block = made.take();
  if (block === null) return [];
  return Array.from({ length: block.size }, (_, trace) =>
    Array.from({ length: block.spansOf(trace) }, (_, span) => nameAt(block, span, trace)),
  );
}

const span = (id: number, parent: number | undefined, more: Partial<Span> = {}): Span => ({
  traceId: traceIdOf(7),
  spanId: spanIdOf(id),
  ...(parent === undefined ? {} : { parentId: spanIdOf(parent) }),
  service: `s${id}`,
  instance: `s${id}-0`,
  operation: "op",
  kind: "internal",
  startUs: 0,
  endUs: 100,
  status: "unset",
  ...more,
});

describe("a trace", () => {
  test("is sealed a fixed time after its root came, with what came until then", () => {
    const { made, admit } = assembler();
    const [root, a, b, a1] = spansOf(tree) as [Span, Span, Span, Span];
    admit([a], 0);
    made.advance(at(3_000));
    expect(made.take()).toBeNull();
    admit([root], 3_000);
    admit([b], 3_500);
    made.advance(at(3_999));
    expect(made.take()).toBeNull();
    made.advance(at(4_000));
    expect(taken(made)).toEqual([["root", "A", "B"]]);
    expect(admit([a1], 4_001)).toBe(0);
    expect(made.counts()).toMatchObject({ admitted: 3, traces: 1, sealed: { settled: 1 }, dropped: { late: 1 } });
  });

  test("of a sender that holds nothing back is sealed sooner, and does not wait for others that came before", () => {
    const names = new NameTable();
    const made = new TraceAssembler(names, { settle: at(6_000), promptSettle: at(1_000) });
    const other = spansOf(tree).map((one) => ({ ...one, traceId: traceIdOf(8) }));
    made.admit(spanColumnsOf(spansOf(tree), names), at(0));
    made.admit(spanColumnsOf(other, names), at(500), { isPrompt: true });
    made.advance(at(1_499));
    expect(made.take()).toBeNull();
    made.advance(at(1_500));
    expect(taken(made)).toHaveLength(1);
    made.advance(at(6_000));
    expect(taken(made)).toHaveLength(1);
  });

  test("without a root is sealed when nothing came for longer, under its earliest span", () => {
    const { made, admit } = assembler();
    const [, a, b, a1] = spansOf(tree) as [Span, Span, Span, Span];
    admit([a1], 0);
    admit([b, a], 4_000);
    made.advance(at(8_999));
    expect(made.take()).toBeNull();
    made.advance(at(9_000));
    const block = made.take();
    expect(block === null ? [] : [0, 1, 2].map((place) => nameAt(block, place))).toEqual(["A", "B", "A1"]);
    expect([...(block?.parent.subarray(0, 3) ?? [])]).toEqual([-1, 0, 0]);
    expect(made.counts().sealed.rootless).toBe(1);
  });

  test("counts a span that comes twice once", () => {
    const { made, admit } = assembler();
    admit([...spansOf(tree), ...spansOf(tree)]);
    made.flush();
    expect(taken(made)).toEqual([["root", "A", "B", "A1"]]);
    expect(made.counts().dropped.duplicate).toBe(4);
  });

  test("keeps a span whose parent never came below the root, and says so", () => {
    const { made, admit } = assembler();
    admit([span(1, undefined), span(2, 99), span(3, 2)]);
    made.flush();
    const block = made.take();
    expect([...(block?.parent.subarray(0, 3) ?? [])]).toEqual([-1, 0, 1]);
    expect([...(block?.flags.subarray(0, 3) ?? [])]).toEqual([0, SpanFlag.ORPHAN, 0]);
    expect(made.counts().orphans).toBe(1);
  });

  test("drops spans that are their own ancestors, with all below them", () => {
    const { made, admit } = assembler();
    admit([span(1, undefined), span(2, 3), span(3, 2), span(4, 3), span(5, 5), span(6, 1)]);
    made.flush();
    expect(taken(made)).toEqual([["s1", "s6"]]);
    expect(made.counts().dropped.cycle).toBe(4);
  });

  test("of nothing but a cycle is no trace", () => {
    const { made, admit } = assembler();
    admit([span(2, 3), span(3, 2)]);
    made.flush();
    expect(made.take()).toBeNull();
    expect(made.counts()).toMatchObject({ traces: 0, dropped: { cycle: 2 } });
  });

  test("is the same whatever the order of arrival", () => {
    const spans = spansOf(tree);
    fc.assert(
      fc.property(fc.shuffledSubarray(spans, { minLength: spans.length }), (shuffled) => {
        const { made, admit } = assembler();
        for (const one of shuffled) admit([one]);
        made.flush();
        expect(taken(made)).toEqual([["root", "A", "B", "A1"]]);
      }),
    );
  });

  test("carries attributes and links through", () => {
    const { made, admit } = assembler();
    const attributes = { "http.route": "/cart", retries: 2, ok: true, share: 0.5, ids: ["a", "b"] };
    const links = [{ traceId: traceIdOf(9), spanId: spanIdOf(4) }];
    admit([span(1, undefined, { attributes }), span(2, 1, { links })]);
    made.flush();
    const block = made.take();
    expect(block?.spans.spanAt(0)).toEqual(span(1, undefined, { attributes }));
    expect(block?.spans.spanAt(1)).toEqual(span(2, 1, { links }));
  });

  test("may come from receivers with name tables of their own", () => {
    const { made } = assembler();
    const [root, ...rest] = spansOf(tree) as [Span, ...Span[]];
    made.admit(spanColumnsOf([root], new NameTable()), at(0));
    made.admit(spanColumnsOf(rest.reverse(), new NameTable()), at(0));
    made.flush();
    expect(taken(made)).toEqual([["root", "A", "B", "A1"]]);
  });
});

describe("clock skew", () => {
  const call = (server: Partial<Span>, client: Partial<Span> = {}) => {
    const { made, admit } = assembler({ futureAllowance: at(1e12) });
    admit([
      span(1, undefined, { startUs: 0, endUs: 1000 }),
      span(2, 1, { kind: "client", instance: "s1-0", startUs: 100, endUs: 300, ...client }),
      span(3, 2, { kind: "server", ...server }),
      span(4, 3, { instance: "s3-0", startUs: (server.startUs ?? 0) + 10, endUs: (server.endUs ?? 0) - 10 }),
    ]);
    made.flush();
    const block = made.take();
    if (block === null) throw new Error("no trace");
    // Spans of the same instance move along and are not counted again.
    expect(made.counts().skewed).toBe(block.skewUs[2] === 0 ? 0 : 1);
    return [2, 3].map((row) => [block.spans.startUs[row], block.spans.endUs[row], block.skewUs[row]]);
  };

  test("that puts a server before its client is taken out, in the server's whole instance", () => {
    // 100 long within 200: 50 on either side.
    expect(call({ startUs: 20, endUs: 120 })).toEqual([
      [150, 250, 130],
      [160, 240, 130],
    ]);
  });

  test("that lets a server answer after its client had the answer is taken out too", () => {
    expect(call({ startUs: 280, endUs: 380 })).toEqual([
      [150, 250, -130],
      [160, 240, -130],
    ]);
  });

  test("of a server that took longer than its client waited lets both begin together", () => {
    expect(call({ startUs: 50, endUs: 450 })[0]).toEqual([100, 500, 50]);
  });

  test("is not seen in background work, which may well outlive what started it", () => {
    expect(call({ kind: "internal", startUs: 250, endUs: 2_000 })[0]).toEqual([250, 2_000, 0]);
    expect(call({ kind: "consumer", startUs: 5_000, endUs: 6_000 }, { kind: "producer" })[0]).toEqual([
      5_000, 6_000, 0,
    ]);
  });

  test("beyond any clock's error is left as it is", () => {
    expect(call({ startUs: 1e12, endUs: 1e12 + 100 })[0]).toEqual([1e12, 1e12 + 100, 0]);
  });
});

describe("what cannot be used is counted by its reason", () => {
  test("negative durations, times that are none, and spans from the future", () => {
    const { made, admit } = assembler({ futureAllowance: at(1_000) });
    const spans = [
      span(1, undefined, { startUs: 10, endUs: 9 }),
      span(2, undefined, { startUs: Number.NaN, endUs: 9 }),
      span(3, undefined, { startUs: -5, endUs: 9 }),
      span(4, undefined, { startUs: 3e6 + 1, endUs: 4e6 }),
      span(5, undefined, { startUs: 3e6, endUs: 4e6 }),
    ];
    expect(admit(spans, 2_000)).toBe(1);
    expect(made.counts().dropped).toMatchObject({ "negative-duration": 3, future: 1 });
  });

  test("a trace that is too large keeps what it has", () => {
    const { made, admit } = assembler({ maxSpansPerTrace: 100 });
    admit([span(1, undefined), ...Array.from({ length: 1_000 }, (_, k) => span(k + 2, 1))]);
    made.flush();
    expect(taken(made)[0]).toHaveLength(100);
    expect(made.counts().dropped["trace-too-large"]).toBe(901);
  });

  test("traces that nobody takes are dropped when there are too many", () => {
    const { made, admit } = assembler({ maxReadySpans: 6 });
    for (let trace = 1; trace <= 3; trace++) admit(spansOf(tree, { trace }));
    made.flush();
    expect(taken(made)).toHaveLength(1);
    expect(made.counts().dropped["no-room"]).toBe(8);
    admit(spansOf(tree, { trace: 4 }));
    made.flush();
    expect(taken(made)).toHaveLength(1);
  });

  test("attributes beyond their room are lost, their spans are not", () => {
    const { made, admit } = assembler({ maxAttributeBytes: 65_536 });
    const attributes = { text: "x".repeat(20_000) };
    admit([1, 2, 3].map((id) => span(id, id === 1 ? undefined : 1, { attributes })));
    expect(made.counts()).toMatchObject({ admitted: 3, attributesLost: 1 });
    made.flush();
    expect(made.take()?.spans.spanAt(1).attributes).toEqual(attributes);
    // The room is there again.
    admit([1, 2].map((id) => ({ ...span(id, id === 1 ? undefined : 1, { attributes }), traceId: traceIdOf(8) })));
    expect(made.counts().attributesLost).toBe(1);
  });
});

describe("memory", () => {
  const limits = {
    maxSpans: 5_000,
    maxTraces: 300,
    maxSpansPerTrace: 1_000,
    maxAttributeBytes: 2 ** 18,
    maxReadySpans: 10_000,
    rememberedTraces: 500,
  };

  test("stays under its cap over a hundred thousand spans of an injected clock", () => {
    const names = new NameTable();
    const made = new TraceAssembler(names, { ...limits, settle: at(1_000) });
    const rng = seededRng(1);
    const batch = new SpanColumns(names, 256);
    const total = 100_000;
    let most = 0;
    let came = 0;
    let out = 0;
    for (let now = 0; came < total; now += 9) {
      batch.clear();
      for (let k = 0; k < 100; k++, came++) {
        // Many traces at a time, a few of them huge, some without a root, some spans twice.
        const trace = rng.next() < 0.1 ? 1 + Math.floor(came / 5_000) : 1_000 + Math.floor(came / 25) - rng.int(40);
        const id = 1 + rng.int(30);
        batch.addSpan({
          ...span(id, rng.next() < 0.05 ? undefined : rng.int(31), { attributes: { user: `u${came}`, n: came } }),
          traceId: traceIdOf(Math.max(1, trace)),
        });
      }
      made.admit(batch, at(now));
      most = Math.max(most, made.allocatedBytes);
      const block = made.take();
      if (block !== null) {
        out += block.spans.length;
        made.giveBack(block);
      }
    }
    made.flush();
    out += made.take()?.spans.length ?? 0;
    expect(made.waitingSpans).toBe(0);
    expect(made.openTraces).toBe(0);
    // 86 bytes a span and 4 for its list, twice 100 bytes for sealed ones with as many for attributes; see the limits.
    expect(most).toBeLessThan(6_000_000);
    const { admitted, dropped } = made.counts();
    const refused = dropped.late + dropped["trace-too-large"] + dropped.future;
    expect(admitted + refused).toBe(total);
    // Every span that was admitted came out or was counted on the way.
    expect(out + dropped.duplicate + dropped.cycle + dropped["no-room"]).toBe(admitted);
  });

  test("when it is full, seals the oldest trace with a root first", () => {
    const { made, admit } = assembler({ ...limits, maxSpans: 8 });
    admit(spansOf(node("stray", [0, 10])).map((one) => ({ ...one, parentId: spanIdOf(99) })));
    admit(spansOf(tree, { trace: 2 }));
    admit(spansOf(node("late", [0, 10]), { trace: 3 }));
    expect(made.take()).toBeNull();
    admit(spansOf(tree, { trace: 4 }));
    expect(taken(made)).toEqual([["root", "A", "B", "A1"]]);
    expect(made.counts().sealed.pressure).toBe(1);
  });
});
