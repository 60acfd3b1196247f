import { expect, test } from "vitest";
import { OtlpProtoDecoder } from "../../src/adapters/otlp/index.ts";
import { unwrap } from "../../src/base/index.ts";
import { NameTable, type Span } from "../../src/observe/telemetry/index.ts";
import { assembleTraces } from "../../src/observe/tracing/index.ts";
import { libraryDecoder } from "./proto-peer.ts";
import { jaegerDocument, SPANS_PER_TRACE, workload } from "./workload.ts";

const load = workload(120);
const byId = (a: Span, b: Span) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1);

test("messages hold every span of the traces, and those of a trace lie in several", () => {
  const decoder = new OtlpProtoDecoder(new NameTable());
  const perBody = load.bodies.map((body) => {
    const { batch, drops } = unwrap(decoder.decode(body));
    expect(drops.total).toBe(0);
    return Array.from({ length: batch.length }, (_, row) => batch.spanAt(row));
  });
  expect(perBody.flat().sort(byId)).toEqual(load.traces.flat().sort(byId));
  const first = load.traces[0]?.[0]?.traceId;
  expect(perBody.filter((spans) => spans.some(({ traceId }) => traceId === first)).length).toBeGreaterThan(1);
});

test("the library that is the peer finds as many spans in them", () => {
  const decode = libraryDecoder();
  expect(load.bodies.reduce((sum, body) => sum + decode(body), 0)).toBe(120 * SPANS_PER_TRACE);
});

test("traces are whole: one root, no orphan, no skew, and none is as another", () => {
  const { block, counts } = assembleTraces(load.traces.flat());
  expect(counts).toMatchObject({ traces: 120, orphans: 0, skewed: 0 });
  expect(Object.values(counts.dropped).reduce((sum, count) => sum + count, 0)).toBe(0);
  expect(new Set(load.traces.map((_, trace) => block.durationUs(trace))).size).toBeGreaterThan(100);
});

test("the file of Jaeger's has the same traces", () => {
  const { data } = JSON.parse(jaegerDocument(load)) as { data: { spans: unknown[] }[] };
  expect(data.map(({ spans }) => spans.length)).toEqual(load.traces.map((spans) => spans.length));
});
