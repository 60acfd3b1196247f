/** Pages of others, slow and idle connections, uploads that are broken off: what a port meets besides senders. */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { createConnection, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { unwrap } from "../../base/index.ts";
import { NameTable, type SpanSink } from "../../observe/telemetry/index.ts";
import { openSpanReceiver, type SpanReceiver, type SpanReceiverOptions } from "./receiver.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const EMPTY_FRAME = Buffer.alloc(5);

async function receiver(options: Partial<SpanReceiverOptions> = {}) {
  const sink: SpanSink = { names: new NameTable(), offer: () => ({ kind: "taken", unused: 0, why: "" }) };
  const defects: unknown[] = [];
  const onDefect = (thrown: unknown) => defects.push(thrown);
  const made: SpanReceiver = unwrap(await openSpanReceiver({ sink, httpPort: 0, grpcPort: 0, onDefect, ...options }));
  ends.push(() => made.close());
  return { http: made.httpPort as number, grpc: made.grpcPort as number, defects, counts: () => made.counts() };
}

/** Status and code of a POST with an empty message, under headers that `fetch` would not let us choose. */
async function post(port: number, headers: Record<string, string>): Promise<[number, string | undefined]> {
  const body = '{"resourceSpans":[]}';
  const sent = httpRequest({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/v1/traces",
    agent: false,
    headers: { "content-type": "application/json", "content-length": body.length, ...headers },
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
  const { code } = JSON.parse(Buffer.concat(parts).toString()) as { code?: string };
  return [answer.statusCode ?? 0, code];
}

async function call(port: number, headers: Record<string, string>): Promise<string | undefined> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  ends.push(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": EXPORT,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let status: string | undefined;
  const note = (fields: Record<string, unknown>) => {
    if (fields["grpc-status"] !== undefined) status = String(fields["grpc-status"]);
  };
  stream.on("response", note).on("trailers", note).resume();
  stream.end(EMPTY_FRAME);
  await once(stream, "close");
  return status;
}

describe("pages of others", () => {
  test("without tokens only names of this machine are answered, over both listeners", async () => {
    const { http, grpc } = await receiver();
    expect(await post(http, {})).toEqual([200, undefined]);
    expect(await post(http, { host: "LocalHost:4318" })).toEqual([200, undefined]);
    for (const host of ["rebound.example", "rebound.example:4318", "localhost.rebound.example", "127.0.0.1.nip.io"])
      expect(await post(http, { host })).toEqual([403, "otlp.host"]);
    expect(await call(grpc, {})).toBe("0");
    expect(await call(grpc, { ":authority": "rebound.example:4317" })).toBe("7");
  });

  test("a page of another origin may not send, with a token or without", async () => {
    const token = "a-long-enough-token";
    const open = await receiver();
    const closed = await receiver({ tokens: [token] });
    const authorization = `Bearer ${token}`;
    const elsewhere = { origin: "http://rebound.example" };
    expect(await post(open.http, elsewhere)).toEqual([403, "otlp.origin"]);
    expect(await post(open.http, { origin: "null" })).toEqual([403, "otlp.origin"]);
    expect(await post(open.http, { "sec-fetch-site": "cross-site" })).toEqual([403, "otlp.origin"]);
    expect(await post(open.http, { origin: `http://127.0.0.1:${open.http}` })).toEqual([200, undefined]);
    expect(await post(closed.http, { ...elsewhere, authorization })).toEqual([403, "otlp.origin"]);
    // A token proves more than a name.
    expect(await post(closed.http, { host: "collector.example", authorization })).toEqual([200, undefined]);
    expect(await call(open.grpc, elsewhere)).toBe("7");
  });
});

function connectTo(port: number): Socket {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  ends.push(() => socket.destroy());
  return socket;
}

const isClosedWithin = (socket: Socket, ms: number): Promise<boolean> =>
  Promise.race([once(socket, "close").then(() => true), after(ms, false)]);

describe("slow and idle connections", () => {
  const limits = { headersMs: 300, requestMs: 600, lookMs: 50, idleMs: 300 };

  test("headers that do not come in time end the connection, also where nothing comes at all", async () => {
    const { http, grpc } = await receiver({ limits });
    const silent = [connectTo(http), connectTo(grpc)];
    const slow = connectTo(http);
    slow.write("POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n");
    const drip = setInterval(() => slow.write("x"), 40);
    ends.push(() => clearInterval(drip));
    const closed = await Promise.all([...silent, slow].map((socket) => isClosedWithin(socket, 3_000)));
    expect(closed).toEqual([true, true, true]);
  });

  test("a body that does not come in time ends its request, over both", async () => {
    const { http, grpc, counts } = await receiver({ limits });
    const slow = connectTo(http);
    slow.write(
      "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    );
    const session = connectHttp2(`http://127.0.0.1:${grpc}`).on("error", () => undefined);
    ends.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": EXPORT, "content-type": "application/grpc" });
    stream.on("error", () => undefined).write(Buffer.alloc(3));
    expect(await isClosedWithin(slow, 3_000)).toBe(true);
    if (!stream.closed) await once(stream, "close");
    await expect.poll(() => counts().refused["otlp.aborted"], { timeout: 3_000 }).toBeGreaterThan(0);
  });

  test("many connections that do nothing keep nobody out", async () => {
    const most = 40;
    const { http, grpc } = await receiver({ limits: { connections: most } });
    for (const port of [http, grpc]) {
      const idle = Array.from({ length: most }, () => connectTo(port));
      await Promise.all(idle.map((socket) => once(socket, "connect")));
      for (let k = 0; k < 5; k++) expect(port === http ? await post(http, {}) : await call(grpc, {})).toBeTruthy();
      expect(idle.filter(({ destroyed }) => destroyed).length).toBeLessThan(10);
    }
  });
});

test("uploads that are broken off, and noise, are counted and are no defects", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  ends.push(() => told.mockRestore());
  const { http, grpc, defects, counts } = await receiver();
  for (let k = 0; k < 20; k++) {
    const upload = connectTo(http);
    await once(upload, "connect");
    upload.write(
      "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\nContent-Length: 1000\r\n\r\nabc",
    );
    const noise = connectTo(http);
    noise.write("\x00\x01 nonsense\r\n\r\n");
    connectTo(grpc).write("\x00\x01 nonsense\r\n\r\n");
    const session = connectHttp2(`http://127.0.0.1:${grpc}`).on("error", () => undefined);
    const stream = session.request({
      ":method": "POST",
      ":path": EXPORT,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => undefined).write(Buffer.from([0, 0, 0, 9, 9, 1, 2, 3]));
    await after(5);
    upload.destroy();
    session.destroy();
  }
  await expect.poll(() => counts().refused["otlp.aborted"] ?? 0, { timeout: 5_000 }).toBeGreaterThan(20);
  expect(counts().refused["otlp.not-http"]).toBeGreaterThan(0);
  expect(defects).toEqual([]);
  expect(told).not.toHaveBeenCalled();
  expect(await post(http, {})).toEqual([200, undefined]);
  expect(await call(grpc, {})).toBe("0");
});
