import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { createConnection } from "node:net";
import { gzipSync } from "node:zlib";
import { SpanKind as OtelKind, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, test } from "vitest";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { type Ms, unwrap } from "../../base/index.ts";
import { NameTable, type Span, type SpanOffer, type SpanSink, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { encodeOtlp } from "./proto-encode.ts";
import { openSpanReceiver, type SpanReceiver, type SpanReceiverOptions } from "./receiver.ts";

const opened: SpanReceiver[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((receiver) => receiver.close()));
});

/** A sink that keeps what it was offered, as spans. */
class Kept implements SpanSink {
  readonly names = new NameTable();
  readonly spans: Span[] = [];
  answer: SpanOffer = { kind: "taken", unused: 0, why: "" };

  offer(batch: Parameters<SpanSink["offer"]>[0]): SpanOffer {
    if (this.answer.kind === "taken") for (let row = 0; row < batch.length; row++) this.spans.push(batch.spanAt(row));
    return this.answer;
  }
}

async function receiver(options: Partial<SpanReceiverOptions> = {}) {
  const sink = new Kept();
  const made = unwrap(await openSpanReceiver({ sink, httpPort: 0, grpcPort: 0, ...options }));
  opened.push(made);
  const url = (path = "/v1/traces") => `http://127.0.0.1:${made.httpPort}${path}`;
  const post = (body: Uint8Array | string, headers: Record<string, string> = {}, path?: string) =>
    fetch(url(path), {
      method: "POST",
      headers: { "content-type": "application/x-protobuf", ...headers },
      body: body as NonNullable<RequestInit["body"]>,
    });
  return { sink, made, post, url };
}

const spans = spansOf(node("root", [0, 100], [node("a", [10, 20])]));
const body = encodeOtlp(spanColumnsOf(spans, new NameTable()));
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

describe("over HTTP", () => {
  test("protobuf is taken, plain and packed", async () => {
    const { sink, post, made } = await receiver();
    const plain = await post(body);
    expect(plain.status).toBe(200);
    expect(plain.headers.get("content-type")).toBe("application/x-protobuf");
    expect(await bytesOf(plain)).toHaveLength(0);
    expect((await post(gzipSync(body), { "content-encoding": "gzip" })).status).toBe(200);
    expect(sink.spans).toEqual([...spans, ...spans]);
    expect(made.counts()).toMatchObject({ requests: 2, spans: 4, refused: {} });
  });

  test("the exporter of OpenTelemetry for Node is understood", async () => {
    const { sink, url } = await receiver();
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ "service.name": "shop", "k8s.pod.name": "shop-0" }),
      spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: url() }))],
    });
    const tracer = provider.getTracer("test");
    const root = tracer.startSpan("GET /", { kind: OtelKind.SERVER, startTime: [1_700_000_000, 0] });
    const context = trace.setSpan((await import("@opentelemetry/api")).ROOT_CONTEXT, root);
    const child = tracer.startSpan(
      "query",
      { kind: OtelKind.CLIENT, startTime: [1_700_000_000, 2_000_000], attributes: { rows: 3 } },
      context,
    );
    child.end([1_700_000_000, 5_000_500]);
    root.end([1_700_000_000, 9_000_000]);
    await provider.shutdown();
    const { traceId, spanId } = root.spanContext();
    expect(sink.spans).toEqual([
      expect.objectContaining({
        traceId,
        parentId: spanId,
        service: "shop",
        instance: "shop-0",
        operation: "query",
        kind: "client",
        startUs: 1_700_000_000_002_000,
        endUs: 1_700_000_000_005_000.5,
        attributes: { rows: 3 },
      }),
      expect.objectContaining({ spanId, operation: "GET /", kind: "server", endUs: 1_700_000_000_009_000 }),
    ]);
  });

  test("JSON of all three formats goes to its own path", async () => {
    const { sink, post } = await receiver();
    const json = { "content-type": "application/json; charset=utf-8" };
    const otlp = {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: "1".repeat(32),
                  spanId: "2".repeat(16),
                  name: "x",
                  startTimeUnixNano: "1000",
                  endTimeUnixNano: "2000",
                },
              ],
            },
          ],
        },
      ],
    };
    const answer = await post(JSON.stringify(otlp), json);
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    const zipkin = [{ traceId: "b", id: "c", name: "z", timestamp: 5, duration: 1 }];
    expect((await post(JSON.stringify(zipkin), json, "/api/v2/spans")).status).toBe(202);
    const jaeger = {
      data: [{ spans: [{ traceID: "d", spanID: "e", operationName: "j", startTime: 1, duration: 1 }], processes: {} }],
    };
    expect((await post(JSON.stringify(jaeger), json, "/api/traces")).status).toBe(200);
    expect(sink.spans.map(({ operation }) => operation)).toEqual(["x", "z", "j"]);
  });

  test("spans that cannot be used are told as a partial success, in the encoding of the request", async () => {
    const { post, made } = await receiver();
    const columns = spanColumnsOf(spans, new NameTable());
    columns.endUs[1] = 5;
    const answer = await bytesOf(await post(encodeOtlp(columns)));
    // partial_success { rejected_spans: 1, error_message: "1 negative-duration" }
    const text = [...new TextEncoder().encode("1 negative-duration")];
    expect([...answer]).toEqual([0x0a, 4 + text.length, 0x08, 1, 0x12, text.length, ...text]);
    expect(made.counts().dropped["negative-duration"]).toBe(1);
    const bad = { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: "x" }, 5] }] }] };
    const told = await post(JSON.stringify(bad), { "content-type": "application/json" });
    expect(await told.json()).toEqual({
      partialSuccess: { rejectedSpans: "2", errorMessage: "1 invalid-id, 1 invalid-field" },
    });
  });

  test("what the sink will not use is part of the partial success, and a full sink asks to come back", async () => {
    const { sink, post, made } = await receiver();
    const json = { "content-type": "application/json" };
    sink.answer = { kind: "taken", unused: 2, why: "2 future" };
    expect(await (await post('{"resourceSpans":[]}', json)).json()).toEqual({
      partialSuccess: { rejectedSpans: "2", errorMessage: "2 future" },
    });
    sink.answer = { kind: "busy", retryAfter: 2_500 as Ms };
    const busy = await post(body);
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "3"]);
    expect(made.counts().refused).toEqual({ "otlp.busy": 1 });
  });

  test("wrong types, packings, paths and methods are refused with the status that says which", async () => {
    const { post, url, made } = await receiver();
    const statuses = [
      (await post(body, { "content-type": "text/plain" })).status,
      (await post(body, { "content-type": "application/x-protobuf" }, "/api/v2/spans")).status,
      (await post(body, { "content-encoding": "zstd" })).status,
      (await post(body, {}, "/v1/metrics")).status,
      (await fetch(url())).status,
      (await post(body.subarray(0, 30))).status,
      (await post("{", { "content-type": "application/json" })).status,
      (await post("[]", { "content-type": "application/json" })).status,
      (await post(body, { "content-encoding": "gzip" })).status,
    ];
    expect(statuses).toEqual([415, 415, 415, 404, 405, 400, 400, 400, 400]);
    expect(made.counts().refused).toEqual({
      "otlp.content-type": 2,
      "otlp.content-encoding": 1,
      "otlp.path": 1,
      "otlp.method": 1,
      "otlp.malformed": 1,
      "otlp.not-json": 1,
      "otlp.not-otlp": 1,
      "otlp.bad-compression": 1,
    });
  });

  test("the reason of a refusal is a google.rpc.Status in the encoding of the request", async () => {
    const { post } = await receiver();
    const answer = await post(body.subarray(0, 30));
    expect(answer.headers.get("content-type")).toBe("application/x-protobuf");
    const bytes = await bytesOf(answer);
    expect(bytes[0]).toBe(0x12);
    expect(new TextDecoder().decode(bytes)).toContain("longer than what it lies in");
    const json = await post("{", { "content-type": "application/json" });
    expect(await json.json()).toMatchObject({ code: "otlp.not-json" });
  });

  test("a body that is too large is refused, told its length or not, and a gzip bomb before it is unpacked", async () => {
    const { post, url, made, sink } = await receiver({ maxBodyBytes: 50_000, maxInflatedBytes: 200_000 });
    expect((await post(new Uint8Array(50_001))).status).toBe(413);
    const parts = new ReadableStream({
      start(controller) {
        for (let k = 0; k < 60; k++) controller.enqueue(new Uint8Array(1_000));
        controller.close();
      },
    });
    const chunked = await fetch(url(), {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
      body: parts,
      duplex: "half",
    } as RequestInit);
    expect(chunked.status).toBe(413);
    const bomb = gzipSync(new Uint8Array(20_000_000));
    expect(bomb.length).toBeLessThan(50_000);
    expect((await post(bomb, { "content-encoding": "gzip" })).status).toBe(413);
    expect(made.counts().refused).toEqual({ "otlp.too-large": 3 });
    expect((await post(body)).status).toBe(200);
    expect(sink.spans).toHaveLength(2);
  });

  test("what all requests hold together is bounded, and is given back with each answer", async () => {
    const { post, made } = await receiver({ maxHeldBytes: 20_000 });
    const port = made.httpPort as number;
    const head =
      "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\nContent-Length: 9900\r\n\r\n";
    const slow = createConnection(port, "127.0.0.1");
    slow.write(head + "x".repeat(9_800));
    await once(slow, "connect");
    // A sender may hold what is left for others: the slow one's bytes are there as soon as another finds no room for 9,000.
    const large = new Uint8Array(9_000);
    await expect.poll(async () => (await post(large)).status, { timeout: 5_000 }).toBe(503);
    slow.destroy();
    await expect.poll(async () => (await post(large)).status, { timeout: 5_000 }).toBe(400);
    for (let k = 0; k < 20; k++) expect((await post(gzipSync(body), { "content-encoding": "gzip" })).status).toBe(200);
  });

  test("what is not even HTTP does not bring it down, nor do senders that go away", async () => {
    const { made, post } = await receiver();
    const noise = createConnection(made.httpPort as number, "127.0.0.1");
    noise.resume().write("\x00\x01 nonsense\r\n\r\n");
    await once(noise, "close");
    const gone = createConnection(made.httpPort as number, "127.0.0.1");
    gone.write(
      "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\nContent-Length: 1000\r\n\r\nabc",
    );
    await once(gone, "connect");
    gone.destroy();
    expect((await post(body)).status).toBe(200);
  });
});

/** One unary call with frames written by hand: a byte for the packing, four for the length, the message. */
async function grpcExport(port: number, message: Uint8Array, headers: Record<string, string> = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let status: string | undefined;
    let said: string | undefined;
    const note = (fields: Record<string, unknown>) => {
      if (fields["grpc-status"] !== undefined) status = String(fields["grpc-status"]);
      if (fields["grpc-message"] !== undefined) said = decodeURIComponent(String(fields["grpc-message"]));
    };
    stream.on("response", note);
    stream.on("trailers", note);
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    const prefix = Buffer.alloc(5);
    prefix[0] = headers["grpc-encoding"] === undefined ? 0 : 1;
    prefix.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([prefix, message]));
    await once(stream, "close");
    return { status, said, answer: Buffer.concat(parts).subarray(5) };
  } finally {
    session.destroy();
  }
}

describe("over gRPC", () => {
  test("Export takes spans, plain and packed", async () => {
    const { sink, made } = await receiver();
    const port = made.grpcPort as number;
    expect(await grpcExport(port, body)).toMatchObject({ status: "0", answer: Buffer.alloc(0) });
    expect(await grpcExport(port, gzipSync(body), { "grpc-encoding": "gzip" })).toMatchObject({ status: "0" });
    expect(sink.spans).toEqual([...spans, ...spans]);
  });

  test("a partial success, a malformed part and a full sink are told as OTLP says", async () => {
    const { sink, made } = await receiver();
    const port = made.grpcPort as number;
    sink.answer = { kind: "taken", unused: 3, why: "3 late" };
    const { answer } = await grpcExport(port, body);
    expect([...answer]).toEqual([0x0a, 10, 0x08, 3, 0x12, 6, ...Buffer.from("3 late")]);
    // ResourceSpans with a length that leads out of it: INVALID_ARGUMENT.
    expect(await grpcExport(port, Uint8Array.of(0x0a, 2, 0x12, 9))).toMatchObject({ status: "3" });
    sink.answer = { kind: "busy", retryAfter: 1_000 as Ms };
    expect(await grpcExport(port, body)).toMatchObject({ status: "14" });
  });

  test("a message that unpacks to more than allowed is refused", async () => {
    const { sink, made } = await receiver({ maxInflatedBytes: 100_000 });
    const port = made.grpcPort as number;
    const bomb = gzipSync(new Uint8Array(10_000_000));
    expect(await grpcExport(port, bomb, { "grpc-encoding": "gzip" })).toMatchObject({ status: "8" });
    expect(await grpcExport(port, new Uint8Array(9_000_000))).toMatchObject({
      status: "8",
      said: "the request is larger than 8388608 bytes: let the exporter send smaller batches",
    });
    expect(await grpcExport(port, body)).toMatchObject({ status: "0" });
    expect(sink.spans).toHaveLength(2);
  });
});

describe("who may send", () => {
  test("with tokens only those who have one, over both listeners", async () => {
    const token = "a-long-enough-token";
    const { post, made, sink } = await receiver({ tokens: [token] });
    expect((await post(body)).status).toBe(401);
    expect((await post(body, { authorization: "Bearer another-long-token" })).status).toBe(401);
    expect((await post(body, { authorization: `Bearer ${token}` })).status).toBe(200);
    expect(await grpcExport(made.grpcPort as number, body)).toMatchObject({ status: "16" });
    expect(await grpcExport(made.grpcPort as number, body, { authorization: `Bearer ${token}` })).toMatchObject({
      status: "0",
    });
    expect(sink.spans).toHaveLength(4);
  });

  test("an address that others can reach needs a token or the word that they are trusted", async () => {
    const sink = new Kept();
    const open = (more: Partial<SpanReceiverOptions>) =>
      openSpanReceiver({ sink, httpPort: null, grpcPort: null, ...more });
    expect(await open({ host: "0.0.0.0" })).toMatchObject({ ok: false, failure: { code: "otlp.token-required" } });
    expect(await open({ tokens: ["short"] })).toMatchObject({ ok: false, failure: { code: "otlp.token-weak" } });
    expect(await open({ host: "0.0.0.0", isTrustedNetwork: true })).toMatchObject({ ok: true });
  });

  test("a port that is taken is told, and the other listener is not left open", async () => {
    const { made } = await receiver();
    const sink = new Kept();
    const second = await openSpanReceiver({ sink, httpPort: 0, grpcPort: made.grpcPort });
    expect(second).toMatchObject({ ok: false, failure: { code: "otlp.bind" } });
  });
});
