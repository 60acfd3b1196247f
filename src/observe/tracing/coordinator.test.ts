import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameAt, node, spanIdOf, spansOf, type TreeNode, traceIdOf } from "../../../test/fixtures/traces/span-tree.ts";
import { type Ms, milliseconds } from "../../base/index.ts";
import { NameTable, SPAN_KINDS, type Span, type SpanKind, spanColumnsOf } from "../telemetry/index.ts";
import { type CollectedTraces, type CoordinatorOptions, TracingCoordinator } from "./coordinator.ts";

const at = milliseconds;

function coordinator(options: CoordinatorOptions = {}) {
  const names = new NameTable();
  const made = new TracingCoordinator(names, {
    ...options,
    limits: { settle: at(100), rootlessWait: at(500), ...options.limits },
  });
  return { made, admit: (spans: readonly Span[], now: number) => made.admit(spanColumnsOf(spans, names), at(now)) };
}

const critical = ({ block, criticalUs }: CollectedTraces, trace = 0): string[] =>
  Array.from({ length: block.spansOf(trace) }, (_, span) => {
    const us = criticalUs[(block.offsets[trace] as number) + span] as number;
    return us < 0 ? `${nameAt(block, span, trace)} off` : `${nameAt(block, span, trace)} ${us}`;
  });

const viaA = node("root", [0, 100], [node("A", [10, 90]), node("B", [10, 30])]);
const viaB = node("root", [0, 100], [node("A", [10, 30]), node("B", [10, 90])]);

describe("the tracing coordinator", () => {
  test("gives each complete trace once, with the time that each span alone held it up", () => {
    const { made, admit } = coordinator();
    admit(spansOf(viaA), 0);
    expect(made.collect(at(99))).toBeNull();
    const first = made.collect(at(100));
    expect(first === null ? [] : critical(first)).toEqual(["root 20", "A 80", "B off"]);
    if (first !== null) made.release(first);
    expect(made.collect(at(200))).toBeNull();
    admit(spansOf(viaB, { trace: 2 }), 300);
    const second = made.flush(at(300));
    expect(second === null ? [] : critical(second)).toEqual(["root 20", "B 80", "A off"]);
  });

  test("notices when the critical path of a request type moves", () => {
    const { made, admit } = coordinator({ changes: { window: at(1_000), enough: 20 } });
    const changes = [];
    for (let trace = 1; trace <= 100; trace++) {
      const now = trace * 50;
      admit(spansOf(trace <= 50 ? viaA : viaB, { trace }), now);
      const traces = made.collect(at(now));
      if (traces !== null) {
        changes.push(...traces.changes);
        made.release(traces);
      }
    }
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({ requestType: "root/op", from: "root/op > A/op", to: "root/op > B/op" });
    // The 50th is the last of the old kind, at 2.5 s; a window of one second says so at its end.
    expect(changes[0]?.at).toBeGreaterThan(2_500);
    expect(changes[0]?.at).toBeLessThanOrEqual(4_600);
    expect(made.signatures.requestTypes()[0]?.paths.map(({ signature }) => signature)).toHaveLength(2);
  });

  test("learns what is background from some traces and leaves it out of all", () => {
    const { made, admit } = coordinator({ learnEvery: 1, relations: { enough: 10 } });
    const withTail = (end: number): TreeNode => node("root", [0, 100], [node("A", [10, 40]), node("W", [50, end])]);
    for (let trace = 1; trace <= 10; trace++) admit(spansOf(withTail(5_000), { trace }), 0);
    const learned = made.flush(at(0));
    if (learned !== null) made.release(learned);
    // This time it happened to end before its parent.
    admit(spansOf(withTail(90), { trace: 11 }), 0);
    const traces = made.flush(at(0));
    expect(traces === null ? [] : critical(traces)).toEqual(["root 70", "A 30", "W off"]);
  });
});

const anySpan: fc.Arbitrary<Span> = fc
  .record({
    trace: fc.integer({ min: 0, max: 3 }),
    id: fc.integer({ min: 0, max: 8 }),
    parent: fc.integer({ min: 0, max: 9 }),
    instance: fc.integer({ min: 0, max: 2 }),
    kind: fc.constantFrom<SpanKind>(...SPAN_KINDS),
    startUs: fc.oneof(fc.nat(1_000), fc.constantFrom(-1, Number.NaN, Number.POSITIVE_INFINITY, 1e15)),
    length: fc.oneof(fc.nat(500), fc.constantFrom(-5, Number.NaN, 1e15)),
    link: fc.option(fc.integer({ min: 1, max: 9 })),
  })
  .map(({ trace, id, parent, instance, kind, startUs, length, link }) => ({
    traceId: traceIdOf(trace),
    spanId: spanIdOf(id),
    ...(parent === 0 ? {} : { parentId: spanIdOf(parent) }),
    service: `s${id}`,
    instance: `i${instance}`,
    operation: "op",
    kind,
    startUs,
    endUs: startUs + length,
    status: "unset",
    ...(link === null ? {} : { links: [{ traceId: traceIdOf(trace), spanId: spanIdOf(link) }] }),
  }));

test("whatever spans come, each is used once or counted once, and every path tiles its request", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(anySpan, { maxLength: 30 }), fc.nat(400)), { maxLength: 6 }),
      fc.record({ maxSpans: fc.integer({ min: 2, max: 20 }), maxTraces: fc.integer({ min: 1, max: 4 }) }),
      (batches, limits) => {
        const { made } = coordinator({ limits: { ...limits, maxSpansPerTrace: 10, maxReadySpans: 60 } });
        let now = 0;
        let came = 0;
        let out = 0;
        const look = (traces: CollectedTraces | null): void => {
          if (traces === null) return;
          out += traces.block.spans.length;
          for (let trace = 0; trace < traces.block.size; trace++) {
            const rows = [traces.block.offsets[trace] as number, traces.block.offsets[trace + 1] as number] as const;
            const sum = traces.criticalUs.subarray(...rows).reduce((total, us) => total + Math.max(0, us), 0);
            expect(sum).toBeCloseTo(traces.block.durationUs(trace), 6);
            for (let row = rows[0] + 1; row < rows[1]; row++)
              expect(traces.block.parent[row]).toBeLessThan(row - rows[0]);
          }
          made.release(traces);
        };
        for (const [spans, pause] of batches) {
          const columns = spanColumnsOf(spans, made.assembler.names);
          came += columns.length;
          made.admit(columns, now as Ms);
          now += pause;
          look(made.collect(now as Ms));
        }
        look(made.flush(now as Ms));
        expect(made.assembler.waitingSpans).toBe(0);
        expect(out + made.assembler.drops.total).toBe(came);
      },
    ),
    { numRuns: 300 },
  );
});
