import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { unwrap } from "../../base/index.ts";
import { NameTable, type Span, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { SpanDecoder, type SpanFormat } from "./intake.ts";
import { receiverLimits } from "./limits.ts";
import { OtlpProtoDecoder } from "./proto-decode.ts";
import { encodeOtlp } from "./proto-encode.ts";

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../test/fixtures/traces/${name}`, import.meta.url));

function decoded(body: Uint8Array, format: SpanFormat) {
  const result = unwrap(new SpanDecoder(new NameTable(), receiverLimits).decode(body, format));
  return {
    spans: Array.from({ length: result.batch.length }, (_, row) => result.batch.spanAt(row)),
    drops: result.drops,
  };
}

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const traceId = "5b8efff798038103d269b633813fc60c";
const call: Span[] = [
  {
    traceId,
    spanId: "eee19b7ec3c1b174",
    service: "frontend",
    instance: "frontend-7d9c",
    operation: "GET /cart",
    kind: "server",
    startUs: 1_700_000_000_000_000,
    endUs: 1_700_000_000_050_000,
    status: "unset",
    attributes: { "http.request.method": "GET", "http.response.status_code": 200, sampled: true, load: 0.25 },
  },
  {
    traceId,
    spanId: "00f067aa0ba902b7",
    parentId: "eee19b7ec3c1b174",
    service: "cart",
    instance: "cart-0",
    operation: "cart.Get",
    kind: "client",
    startUs: 1_700_000_000_010_000,
    endUs: 1_700_000_000_040_000,
    status: "error",
    links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }],
  },
];

const text = (value: string) => [...new TextEncoder().encode(value)];
const field = (tag: number, bytes: readonly number[]) => [
  tag,
  ...(bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]),
  ...bytes,
];

describe("OTLP as protobuf", () => {
  test("what is encoded is decoded", () => {
    const body = encodeOtlp(spanColumnsOf(call, new NameTable()));
    expect(decoded(body, "otlp-proto").spans).toEqual(call);
  });

  test("bytes written by hand are read as the specification says, in any order and with fields that we do not know", () => {
    const pair = (key: string, value: string) =>
      field(0x0a, [...field(0x0a, text(key)), ...field(0x12, field(0x0a, text(value)))]);
    const span = [
      ...[0x85, 0x01, 1, 1, 0, 0], // flags, a fixed32 of two tag bytes
      ...field(0x7a, [0x12, 2, 111, 107, 0x18, 2]), // status with a message and the code ERROR
      ...field(0x5a, [0x09, 0, 0, 0, 0, 0, 0, 0, 0]), // an event
      ...[0x41, 0xe8, 0x03, 0, 0, 0, 0, 0, 0], // ends at 1,000 ns
      ...[0x39, 0xf4, 0x01, 0, 0, 0, 0, 0, 0], // starts at 500 ns
      ...[0x30, 2], // a server
      ...field(0x2a, text("op")),
      ...field(0x22, []), // an empty parent is none
      ...field(0x12, [0, 0, 0, 0, 0, 0, 1, 2]),
      ...field(0x0a, [...Array.from({ length: 15 }, () => 0), 9]),
    ];
    const scope = field(0x12, [
      ...field(0x0a, field(0x0a, text("lib"))),
      ...field(0x12, span),
      ...field(0x1a, text("url")),
    ]);
    const resource = field(0x0a, [
      ...pair("host.name", "node-1"),
      ...pair("service.name", "cart"),
      ...pair("k8s.pod.name", "cart-0"),
      ...field(0x0a, [...field(0x0a, text("empty")), 0x12, 0]),
    ]);
    // The resource lies behind its spans here.
    const body = Uint8Array.from(field(0x0a, [...scope, ...resource]));
    expect(decoded(body, "otlp-proto").spans).toEqual([
      {
        traceId: `${"0".repeat(31)}9`,
        spanId: "0000000000000102",
        service: "cart",
        instance: "cart-0",
        operation: "op",
        kind: "server",
        startUs: 0.5,
        endUs: 1,
        status: "error",
      },
    ]);
  });

  test("a resource's values may lie before their keys, as the OpenTelemetry Collector writes them", () => {
    const backwards = (key: string, value: string) =>
      field(0x0a, [...field(0x12, field(0x0a, text(value))), ...field(0x0a, text(key))]);
    const span = [
      ...field(0x2a, text("op")),
      ...field(0x12, [0, 0, 0, 0, 0, 0, 0, 2]),
      ...field(0x0a, [...Array.from({ length: 15 }, () => 0), 9]),
    ];
    const resource = [...backwards("k8s.pod.name", "cart-0"), ...backwards("service.name", "cart")];
    const body = Uint8Array.from(field(0x0a, [...field(0x12, field(0x12, span)), ...field(0x0a, resource)]));
    expect(decoded(body, "otlp-proto").spans).toMatchObject([{ service: "cart", instance: "cart-0" }]);
  });

  test("spans that nobody can use are dropped by their reason, and the others taken", () => {
    const columns = spanColumnsOf([...call, ...call, ...call], new NameTable());
    columns.traceIds.fill(0, 8, 12);
    columns.endUs[3] = 5;
    const body = encodeOtlp(columns);
    const { spans, drops } = decoded(body, "otlp-proto");
    expect(spans).toHaveLength(4);
    expect(drops.counts()).toMatchObject({ "invalid-id": 1, "negative-duration": 1 });
    const invalid = encodeOtlp(spanColumnsOf(call, new NameTable()));
    invalid[Buffer.from(invalid).indexOf("cart.Get")] = 0xff;
    expect(decoded(invalid, "otlp-proto").drops.sentence()).toBe("1 invalid-field");
  });

  test("a body that was cut off is refused, wherever the cut is, or gives whole spans only", () => {
    const body = encodeOtlp(spanColumnsOf(spansOf(node("root", [0, 9], [node("a", [1, 2])])), new NameTable()));
    const names = new NameTable();
    const decoder = new OtlpProtoDecoder(names);
    for (let length = 1; length < body.length; length++) {
      const result = decoder.decode(body.subarray(0, length));
      if (result.ok)
        expect(result.value.batch.length).toBe(1); // between the two resources
      else expect(result.failure.code).toBe("otlp.malformed");
    }
  });

  test("whatever bytes come, the answer is spans or a failure, within the message's own bounds", () => {
    const good = encodeOtlp(spanColumnsOf(call, new NameTable()));
    const mutated = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
      .map((changes) => {
        const bytes = good.slice();
        for (const [at, value] of changes) bytes[at] = value;
        return bytes;
      });
    const decoder = new OtlpProtoDecoder(new NameTable());
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
        const result = decoder.decode(bytes);
        if (!result.ok) {
          expect(result.failure.code).toBe("otlp.malformed");
          return;
        }
        for (let row = 0; row < result.value.batch.length; row++) {
          const span = result.value.batch.spanAt(row);
          expect(span.endUs).toBeGreaterThanOrEqual(span.startUs);
          expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("OTLP as JSON", () => {
  const document = (spans: readonly unknown[]) => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "cart" } }] },
        scopeSpans: [{ scope: { name: "lib" }, spans }],
      },
    ],
  });
  const span = {
    traceId,
    spanId: "eee19b7ec3c1b174",
    parentSpanId: "",
    name: "op",
    kind: 3,
    startTimeUnixNano: "1700000000000000000",
    endTimeUnixNano: "1700000000000250000",
    status: { code: 2 },
    attributes: [
      { key: "n", value: { intValue: "42" } },
      { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }, { boolValue: false }] } } },
    ],
  };

  test("ids are hexadecimal, numbers may be texts, and the instance without a name is the service", () => {
    expect(decoded(json(document([span])), "otlp-json").spans).toEqual([
      {
        traceId,
        spanId: "eee19b7ec3c1b174",
        service: "cart",
        instance: "cart",
        operation: "op",
        kind: "client",
        startUs: 1_700_000_000_000_000,
        endUs: 1_700_000_000_000_250,
        status: "error",
        attributes: { n: 42, list: ["a", false] },
      },
    ]);
  });

  test("ids in base64 and kinds by name, as protobuf's own JSON has them, are read too", () => {
    const base64 = {
      ...span,
      traceId: Buffer.from(traceId, "hex").toString("base64"),
      spanId: Buffer.from("eee19b7ec3c1b174", "hex").toString("base64"),
      kind: "SPAN_KIND_CONSUMER",
      status: { code: "STATUS_CODE_OK" },
    };
    expect(decoded(json(document([base64])), "otlp-json").spans[0]).toMatchObject({
      traceId,
      spanId: "eee19b7ec3c1b174",
      kind: "consumer",
      status: "ok",
    });
  });

  test("spans with fields of other types are dropped by their reason", () => {
    const bad = [
      { ...span, traceId: 5 },
      { ...span, traceId: "abc" },
      { ...span, parentSpanId: "zz" },
      { ...span, name: 5 },
      { ...span, startTimeUnixNano: "soon" },
      { ...span, endTimeUnixNano: "1" },
      "no span",
      null,
    ];
    const { spans, drops } = decoded(json(document([...bad, { ...span, kind: "constructor" }])), "otlp-json");
    expect(spans.map(({ kind }) => kind)).toEqual(["internal"]);
    expect(drops.counts()).toMatchObject({ "invalid-id": 3, "invalid-field": 4, "negative-duration": 1 });
  });
});

describe("Jaeger's JSON", () => {
  test("a downloaded trace is read, with its processes, references and tags", () => {
    const { spans, drops } = decoded(fixture("jaeger.json"), "jaeger-json");
    expect(drops.total).toBe(0);
    expect(spans).toEqual([
      expect.objectContaining({
        traceId: "00000000000000000a1b2c3d4e5f6071",
        spanId: "0a1b2c3d4e5f6071",
        service: "nginx",
        instance: "nginx-1",
        operation: "/compose",
        kind: "server",
        startUs: 1_600_000_000_000_000,
        endUs: 1_600_000_000_080_000,
      }),
      expect.objectContaining({ parentId: "0a1b2c3d4e5f6071", service: "text", instance: "text-2", status: "error" }),
      expect.objectContaining({ service: "home-timeline", kind: "consumer", parentId: "0a1b2c3d4e5f6071" }),
      expect.objectContaining({
        service: "post-storage",
        instance: "post-storage",
        parentId: "0a1b2c3d4e5f6071",
        links: [{ traceId: "00000000000000000a1b2c3d4e5f6071", spanId: "00000000000000a2" }],
      }),
    ]);
    expect(spans[0]).not.toHaveProperty("parentId");
    expect(spans[1]?.attributes).toEqual({ error: true, chars: 280 });
  });

  test("a list of traces and a single trace are read as well", () => {
    const whole = JSON.parse(Buffer.from(fixture("jaeger.json")).toString()) as { data: unknown[] };
    expect(decoded(json(whole.data), "jaeger-json").spans).toHaveLength(4);
    expect(decoded(json(whole.data[0]), "jaeger-json").spans).toHaveLength(4);
  });
});

describe("Zipkin's JSON", () => {
  test("the two halves of a shared span become caller and callee, and the callee's calls its children", () => {
    const { spans, drops } = decoded(fixture("zipkin.json"), "zipkin-json");
    expect(drops.total).toBe(0);
    const shown = spans.map(({ spanId, parentId, service, kind }) => `${spanId} ${parentId ?? "-"} ${service} ${kind}`);
    expect(shown).toEqual([
      "0000000000000001 - frontend server",
      "0000000000000002 0000000000000001 frontend client",
      "8000000000000002 0000000000000002 backend server",
      "0000000000000003 8000000000000002 backend client",
      "0000000000000004 0000000000000001 frontend producer",
    ]);
    expect(spans[2]).toMatchObject({
      instance: "10.0.0.2",
      startUs: 1_600_000_000_012_000,
      endUs: 1_600_000_000_038_000,
    });
    expect(spans[3]).toMatchObject({ status: "error", attributes: { error: "timeout" } });
  });

  test("what /api/v2/traces answers, a list of lists, is read as well", () => {
    const list = JSON.parse(Buffer.from(fixture("zipkin.json")).toString()) as unknown[];
    expect(decoded(json([list]), "zipkin-json").spans).toHaveLength(5);
  });
});

test("whatever JSON comes, every format answers with spans or a failure of its own", () => {
  const decoder = new SpanDecoder(new NameTable(), receiverLimits);
  const near = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue().map((value) => ({ resourceSpans: [{ scopeSpans: [{ spans: [value] }] }] })),
    fc
      .jsonValue()
      .map((value) => ({ data: [{ spans: [value, { references: value, tags: value, processID: value }] }] })),
    fc
      .jsonValue()
      .map((value) => [value, { traceId: "a", id: "b", localEndpoint: value, tags: value, timestamp: value }]),
  );
  const codes = new Set(["otlp.not-otlp", "otlp.not-jaeger", "otlp.not-zipkin"]);
  fc.assert(
    fc.property(near, fc.constantFrom<SpanFormat>("otlp-json", "jaeger-json", "zipkin-json"), (value, format) => {
      const result = decoder.decode(json(value), format);
      if (!result.ok) expect(codes).toContain(result.failure.code);
    }),
    { numRuns: 1_000 },
  );
  expect(decoder.decode(Uint8Array.of(0xff), "otlp-json")).toMatchObject({
    ok: false,
    failure: { code: "otlp.not-json" },
  });
});
