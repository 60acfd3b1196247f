/** Many connections at once, from real sockets: who is still answered, and who has to go. */
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { agent, event, fakePlane, workload } from "../../test/fixtures/server/fake-plane.ts";
import { unwrap } from "../base/index.ts";
import { openServer, type RunningServer, type ServerOptions } from "./node-server.ts";

const running: RunningServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.close({ graceMs: 100 })));
});

const operator = { name: "ann", role: "operator" as const, secret: "operator-secret-0123456789" };
const bearer = ({ secret }: { readonly secret: string }) => ({ authorization: `Bearer ${secret}` });

async function start(options: Partial<ServerOptions> = {}) {
  const plane = fakePlane();
  const opened = await openServer({
    plane,
    options: { version: "0.1.0", port: 0, audit: () => undefined, onDefect: () => undefined, ...options },
  });
  const server = unwrap(opened);
  running.push(server);
  plane.send(workload("cart"), agent("cart-agent"));
  return { plane, server };
}

/** A connection that has sent this much. `isOpen` is the server's word: it never closes by itself. */
async function visitor(port: number, text = "") {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  const seen = { isOpen: true, text: "" };
  socket
    .on("error", () => undefined)
    .on("close", () => {
      seen.isOpen = false;
    });
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    seen.text += chunk;
  });
  await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
  socket.write(text);
  return { socket, seen };
}

const crowd = async (port: number, { count, text = "" }: { readonly count: number; readonly text?: string }) => {
  const all: Awaited<ReturnType<typeof visitor>>[] = [];
  while (all.length < count)
    all.push(
      ...(await Promise.all(Array.from({ length: Math.min(100, count - all.length) }, () => visitor(port, text)))),
    );
  return all;
};

/** Within a few seconds on a busy machine; where nobody answers, it is the time that ends it. */
const ask = (url: string, init: RequestInit = {}) => fetch(url, { ...init, signal: AbortSignal.timeout(3_000) });

async function stream(url: string, headers: Record<string, string>) {
  const leave = new AbortController();
  const answer = await fetch(`${url}/v1/stream`, { headers, signal: leave.signal });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  return { read: async () => new TextDecoder().decode((await reader.read()).value), leave };
}

const half = "GET /v1/overview HTTP/1.1\r\nHost: 127.0.0.1\r\n";
const slowBody = "PUT /v1/agents/cart-agent/mode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{";
const keptAlive = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

test.each([
  ["1,100", "that say nothing", ""],
  ["120", "that never end their headers", half],
  ["120", "that asked once and stay", keptAlive],
])("%s connections %s lock out neither probes nor operators, and end no stream", async (many, _what, text) => {
  const count = Number(many.replace(",", ""));
  const limits = count > 1_000 ? {} : { connections: 100 };
  const { plane, server } = await start({ tokens: [operator], limits });
  const live = await stream(server.url, bearer(operator));
  expect(await live.read()).toContain("event: snapshot");
  const idle = await visitor(server.port, `${half}Authorization: Bearer ${operator.secret}\r\n\r\n`);
  await expect.poll(() => idle.seen.text).toContain("200 OK");
  const all = await crowd(server.port, { count, text });
  expect((await ask(`${server.url}/livez`)).status).toBe(200);
  expect((await ask(`${server.url}/readyz`)).status).toBe(200);
  const paused = await ask(`${server.url}/v1/agents/cart-agent/pause`, { method: "POST", headers: bearer(operator) });
  expect(paused.status).toBe(200);
  plane.send(event("still here"));
  expect(await live.read()).toContain("still here");
  live.leave.abort();
  // Oldest first, and whoever showed a token last of all.
  expect(all.slice(-90).every(({ seen }) => seen.isOpen)).toBe(true);
  expect(all.slice(0, 10).some(({ seen }) => seen.isOpen)).toBe(false);
  expect(idle.seen.isOpen).toBe(true);
});

test("without tokens, half-sent bodies go before what is being answered, and a stream never goes", async () => {
  let crowded = 0;
  const onCrowded = (): void => {
    crowded += 1;
  };
  const { plane, server } = await start({ limits: { connections: 50 }, onCrowded });
  const live = await stream(server.url, {});
  await live.read();
  const all = await crowd(server.port, { count: 60, text: slowBody });
  expect((await ask(`${server.url}/readyz`)).status).toBe(200);
  plane.send(event("still here"));
  expect(await live.read()).toContain("still here");
  live.leave.abort();
  expect(all.filter(({ seen }) => seen.isOpen).length).toBeLessThan(50);
  expect(crowded).toBeGreaterThanOrEqual(11);
});

test("whoever has just come is not the next to go, though all the others have asked before", async () => {
  const { server } = await start({ limits: { connections: 50 } });
  const all = await crowd(server.port, { count: 50, text: keptAlive });
  await expect.poll(() => all.every(({ seen }) => seen.text.includes("200 OK"))).toBe(true);
  const newcomer = await visitor(server.port);
  await crowd(server.port, { count: 3 });
  newcomer.socket.write(keptAlive);
  await expect.poll(() => newcomer.seen.text).toContain("200 OK");
});

test("where all are being answered, a newcomer is not taken", async () => {
  const { server } = await start({ limits: { connections: 3 } });
  const live = await Promise.all([1, 2, 3].map(() => stream(server.url, {})));
  await Promise.all(live.map(({ read }) => read()));
  const late = await visitor(server.port);
  await expect.poll(() => late.seen.isOpen).toBe(false);
  for (const { leave } of live) leave.abort();
});

test("a head that is sent slowly ends its connection soon after its time", async () => {
  const { server } = await start({ headersMs: 500 });
  const slow = await crowd(server.port, { count: 20, text: half });
  const feeding = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write("X: y\r\n");
  }, 100);
  try {
    await expect.poll(() => slow.filter(({ seen }) => seen.isOpen).length, { timeout: 6_000 }).toBe(0);
  } finally {
    clearInterval(feeding);
  }
});
