/** What attacked the receiver once, sent to a real one with a well-behaved sender beside it. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as after } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { unwrap } from "../../base/index.ts";
import { NameTable, type SpanSink, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { encodeOtlp } from "./proto-encode.ts";
import { openSpanReceiver, type SpanReceiver } from "./receiver.ts";

const opened: SpanReceiver[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((receiver) => receiver.close()));
});

const MOST_GROWTH = 200 * 2 ** 20;
const good = encodeOtlp(spanColumnsOf(spansOf(node("root", [0, 100], [node("a", [10, 20])])), new NameTable()));

/** Sends spans again and again until the attack has been answered; all must be acknowledged. */
async function beside<T>(attack: (receiver: { url: string; grpcPort: number }) => Promise<T>) {
  let taken = 0;
  const sink: SpanSink = {
    names: new NameTable(),
    offer(batch) {
      taken += batch.length;
      return { kind: "taken", unused: 0, why: "" };
    },
  };
  const receiver = unwrap(await openSpanReceiver({ sink, httpPort: 0, grpcPort: 0 }));
  opened.push(receiver);
  const url = `http://127.0.0.1:${receiver.httpPort}/v1/traces`;
  const before = process.memoryUsage().rss;
  let most = before;
  let isOver = false;
  const under = attack({ url, grpcPort: receiver.grpcPort as number }).finally(() => {
    isOver = true;
  });
  let sent = 0;
  let slowestMs = 0;
  do {
    const began = performance.now();
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
      body: good as NonNullable<RequestInit["body"]>,
    });
    expect(answer.status).toBe(200);
    sent += 2;
    slowestMs = Math.max(slowestMs, performance.now() - began);
    most = Math.max(most, process.memoryUsage().rss);
    await after(5);
  } while (!isOver);
  expect(taken).toBe(sent);
  return { answer: await under, growth: most - before };
}

const said = async (answer: Response): Promise<string> => ((await answer.json()) as { message: string }).message;

/** gzip of a document that repeats one element, without ever having it in memory. */
async function packed(element: string, count: number): Promise<Uint8Array> {
  const gzip = createGzip({ level: 9 });
  const parts: Buffer[] = [];
  gzip.on("data", (part: Buffer) => parts.push(part));
  const many = 10_000;
  const portion = Buffer.from(`${element},`.repeat(many));
  gzip.write('{"resourceSpans":[');
  for (let k = 0; k < count; k += many) if (!gzip.write(portion)) await new Promise((next) => gzip.once("drain", next));
  gzip.end(`${element}]}`);
  await new Promise((end) => gzip.once("end", end));
  return Buffer.concat(parts);
}

const post = (url: string, body: Uint8Array | string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method: "POST", headers, body: body as NonNullable<RequestInit["body"]> });

const JSON_TYPE = { "content-type": "application/json" };

test.each([
  ["21 million", 21_000_000],
  ["8 million", 8_000_000],
])("a packed list of %s empty objects is refused early, and nobody else waits for it", async (_what, count) => {
  const body = await packed("{}", count);
  expect(body.length).toBeLessThan(70_000);
  const { answer, growth } = await beside(({ url }) => post(url, body, { ...JSON_TYPE, "content-encoding": "gzip" }));
  expect(answer.status).toBe(413);
  expect(await said(answer)).toMatch(/^the (?:request|message) .*: let the exporter send smaller batches$/);
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test("8 MB of opening brackets are refused at the first that is too deep", async () => {
  const { answer, growth } = await beside(({ url }) => post(url, "[".repeat(8_000_000), JSON_TYPE));
  expect(answer.status).toBe(400);
  expect(await said(answer)).toBe(
    "the message is nested deeper than 100 levels: no span needs that, check the exporter",
  );
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test("lists of empty objects are refused in the formats of others, too", async () => {
  const body = `[${"{},".repeat(2_500_000)}{}]`;
  for (const path of ["/api/v2/spans", "/api/traces"]) {
    const { answer, growth } = await beside(({ url }) => post(url.replace("/v1/traces", path), body, JSON_TYPE));
    expect(answer.status).toBe(413);
    expect(growth).toBeLessThan(MOST_GROWTH);
  }
});

test("fields of protobuf that say nothing are counted", async () => {
  // 4 million ResourceSpans of two bytes each.
  const body = Buffer.alloc(8_000_000, Buffer.from([0x0a, 0]));
  const { answer } = await beside(({ url }) => post(url, body, { "content-type": "application/x-protobuf" }));
  expect(answer.status).toBe(413);
  expect(await answer.text()).toContain("the message has more than 2000000 fields");
});

/** So many calls of one connection at once; their statuses. */
async function calls(port: number, message: Uint8Array, { count, isPacked }: { count: number; isPacked: boolean }) {
  const session = connectHttp2(`http://127.0.0.1:${port}`).on("error", () => undefined);
  const frame = Buffer.alloc(5);
  frame[0] = isPacked ? 1 : 0;
  frame.writeUInt32BE(message.length, 1);
  const statuses = await Promise.all(
    Array.from({ length: count }, async () => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        "content-type": "application/grpc",
        te: "trailers",
        ...(isPacked ? { "grpc-encoding": "gzip" } : {}),
      });
      let status = "none";
      stream.on("response", (headers) => {
        status = String(headers["grpc-status"] ?? status);
      });
      stream.on("error", () => undefined).resume();
      stream.end(Buffer.concat([frame, message]));
      if (!stream.closed) await once(stream, "close");
      return status;
    }),
  );
  session.destroy();
  return new Set(statuses);
}

test("the same over gRPC, with several calls of one connection at once", async () => {
  const empties = gzipSync(Buffer.alloc(16_000_000, Buffer.from([0x0a, 0])));
  const bomb = gzipSync(Buffer.alloc(100_000_000));
  for (const message of [empties, bomb]) {
    const { answer, growth } = await beside(({ grpcPort }) => calls(grpcPort, message, { count: 3, isPacked: true }));
    // RESOURCE_EXHAUSTED, or UNAVAILABLE where this sender's share was used up.
    expect(["8", "14"]).toEqual(expect.arrayContaining([...answer]));
    expect(growth).toBeLessThan(MOST_GROWTH);
  }
});
