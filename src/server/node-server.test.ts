import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";
import { agent, event, fakePlane, workload } from "../../test/fixtures/server/fake-plane.ts";
import { unwrap } from "../base/index.ts";
import { openServer, type RunningServer, type ServerOptions } from "./node-server.ts";
import { openStaticFolder } from "./static-folder.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close({ graceMs: 100 })));
});

async function start(options: Partial<ServerOptions> = {}) {
  const plane = fakePlane();
  const opened = await openServer({
    plane,
    options: { version: "0.1.0", port: 0, audit: () => undefined, onDefect: () => undefined, ...options },
  });
  if (opened.ok) running.push(opened.value);
  plane.send(workload("cart"), agent("cart-agent"));
  return { plane, opened };
}

const codeOf = (result: Awaited<ReturnType<typeof start>>["opened"]): string =>
  result.ok ? "it runs" : result.failure.code;

test("requests over a socket are answered, with a Host that is loopback's only", async () => {
  const { opened } = await start();
  const server = unwrap(opened);
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  const answer = await fetch(`${server.url}/v1/overview`);
  expect(await answer.json()).toMatchObject({ workloads: [{ id: "cart" }] });
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
  const status = await new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: server.port, path: "/v1/overview", headers: { host: "evil.example" } };
    request(options, (incoming) => resolve(incoming.statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(403);
});

test("a change over a socket reaches the plane", async () => {
  const { plane, opened } = await start();
  const answer = await fetch(`${unwrap(opened).url}/v1/agents/cart-agent/mode`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": '"1"' },
    body: JSON.stringify({ mode: "recommend" }),
  });
  expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"2"']);
  expect(plane.commands).toEqual([
    { command: { kind: "set-mode", agent: "cart-agent", mode: "recommend" }, revision: 1 },
  ]);
});

/** As `curl -X POST` sends it: no body, and nothing said about its length. */
const bare = (port: number, path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method: "POST" }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    asked.removeHeader("content-length");
    asked.removeHeader("transfer-encoding");
    asked.on("error", reject).end();
  });

test("a change without a body, and one whose length is not said, are carried out; a long one is refused", async () => {
  const { plane, opened } = await start();
  const { url, port } = unwrap(opened);
  expect(await bare(port, "/v1/agents/cart-agent/pause")).toBe(200);
  const inParts = (text: string) =>
    fetch(`${url}/v1/agents/cart-agent/mode`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: new Blob([text]).stream(),
      duplex: "half",
    } as RequestInit);
  expect((await inParts(JSON.stringify({ mode: "canary" }))).status).toBe(200);
  expect((await inParts(JSON.stringify({ mode: "x".repeat(20_000) }))).status).toBe(413);
  expect(plane.commands.map(({ command }) => command)).toEqual([
    { kind: "pause", agent: "cart-agent" },
    { kind: "set-mode", agent: "cart-agent", mode: "canary" },
  ]);
});

test("a port that is taken is one clear failure, and nothing stays behind", async () => {
  const { opened } = await start();
  const { port } = unwrap(opened);
  const second = await start({ port });
  expect(codeOf(second.opened)).toBe("server.port-taken");
  expect(second.opened).toMatchObject({ failure: { message: expect.stringContaining(String(port)) } });
  expect(second.plane.subscribers).toBe(0);
});

test("an address that is not this machine's is refused with its name", async () => {
  const tokens = [{ name: "ann", role: "viewer" as const, secret: "0123456789abcdef" }];
  expect(codeOf((await start({ host: "192.0.2.1", tokens })).opened)).toBe("server.bind");
});

test.each(["0.0.0.0", "::", "192.0.2.1", "plane.example", ""])("'%s' is not bound without a token", async (host) => {
  expect(codeOf((await start({ host })).opened)).toBe("server.token-required");
});

test("a weak token is refused before anything is bound", async () => {
  const tokens = [{ name: "ann", role: "viewer" as const, secret: "short" }];
  const { opened } = await start({ tokens });
  expect(codeOf(opened)).toBe("server.token-weak");
  expect(JSON.stringify(opened)).not.toContain('short"');
});

test("with a token other addresses are bound, and the token is asked for", async () => {
  const secret = "0123456789abcdef";
  const { opened } = await start({ host: "0.0.0.0", tokens: [{ name: "ann", role: "viewer", secret }] });
  const { url } = unwrap(opened);
  expect((await fetch(`${url}/v1/overview`)).status).toBe(401);
  const authorization = `Bearer ${secret}`;
  expect((await fetch(`${url}/v1/overview`, { headers: { authorization } })).status).toBe(200);
});

test("a stream flows over a socket, and a client that goes is forgotten", async () => {
  const { plane, opened } = await start();
  const { url, app } = unwrap(opened);
  const leave = new AbortController();
  const answer = await fetch(`${url}/v1/stream`, { signal: leave.signal });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await read()).toContain("event: snapshot");
  plane.send(event("over the wire"));
  expect(await read()).toContain("over the wire");
  leave.abort();
  const streams = async () =>
    ((await (await app.fetch(new Request(`${url}/v1/metrics`))).json()) as { server: { streams: number } }).server
      .streams;
  await expect.poll(streams).toBe(0);
});

test("closing ends open streams, lets go of the plane and the port, and may be asked for twice", async () => {
  const { plane, opened } = await start();
  const server = unwrap(opened);
  const answer = await fetch(`${server.url}/v1/stream`);
  const text = answer.text();
  // Nobody is waited for who has got the end of the stream: this grace is longer than the test may take.
  await Promise.all([server.close({ graceMs: 60_000 }), server.close()]);
  expect(await text).toContain("event: snapshot");
  expect(plane.subscribers).toBe(0);
  const again = createServer();
  await new Promise<void>((resolve, reject) => {
    again.once("error", reject).listen(server.port, "127.0.0.1", resolve);
  });
  again.close();
});

test("a connection that says nothing does not keep the server from closing", async () => {
  const { opened } = await start();
  const server = unwrap(opened);
  const socket = connect(server.port, "127.0.0.1");
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  socket.write("GET /v1/overview HTTP/1.1\r\n");
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()).resume());
  socket.on("error", () => undefined);
  await server.close({ graceMs: 50 });
  await ended;
});

test.each([
  ["GET / HTTP/1.1\r\n\r\n"],
  ["GET / HTTP/1.1\r\nHost: a b\r\n\r\n"],
  ["GET /%ZZ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"],
  ["GET http://evil.example/v1/overview HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"],
  ["nonsense\r\n\r\n"],
  [`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
])("a request that is none gets a 4xx and the server goes on: %j", async (text) => {
  const { opened } = await start();
  const { port, url } = unwrap(opened);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let got = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      got += chunk;
      if (got.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("close", () => resolve(got)).on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d/);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

function dashboardFolder(): string {
  const folder = temporaryFolder("dashboard");
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>Coxswain</title>");
  writeFileSync(join(folder, "assets", "page-AbCd1234.js"), `console.log("${"x".repeat(2_000)}")`);
  writeFileSync(join(folder, "notes.secret"), "not to be served");
  return folder;
}

test("every answer has the headers that keep browsers careful, and one that is stricter keeps its own", async () => {
  const figure = new Uint8Array(new TextEncoder().encode("<svg/>"));
  const studies = { list: async () => [], read: async () => undefined, figure: async () => figure };
  const { opened } = await start({ studies });
  const { url } = unwrap(opened);
  for (const path of ["/v1/overview", "/livez", "/nothing-here"]) {
    const { headers } = await fetch(`${url}${path}`);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-frame-options")).toBe("DENY");
  }
  const { headers } = await fetch(`${url}/v1/studies/tiny/figures/tiny.svg`);
  expect(headers.get("content-security-policy")).toContain("sandbox");
  expect(headers.get("x-frame-options")).toBe("DENY");
});

test("the dashboard's files are served with their types, packed, cached by content, and nothing else is", async () => {
  const dashboard = unwrap(openStaticFolder(dashboardFolder()));
  const { opened } = await start({ dashboard });
  const { url } = unwrap(opened);
  const page = await fetch(`${url}/`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(await page.text()).toContain("<title>Coxswain</title>");
  const etag = page.headers.get("etag") ?? "";
  expect((await fetch(`${url}/`, { headers: { "if-none-match": etag } })).status).toBe(304);

  const script = await unwrap(opened).app.fetch(
    new Request(`${url}/assets/page-AbCd1234.js`, { headers: { "accept-encoding": "gzip" } }),
  );
  expect(script.headers.get("cache-control")).toContain("immutable");
  expect(script.headers.get("content-encoding")).toBe("gzip");
  expect(gunzipSync(await script.arrayBuffer()).toString()).toContain("console.log");
  for (const path of ["/notes.secret", "/../package.json", "/assets/", "/%2e%2e/package.json", "/v1/index.html"])
    expect((await fetch(`${url}${path}`)).status, path).toBe(404);
});

test("an address of a view leads to the page, below any prefix; of the API and of files nothing changes", async () => {
  const dashboard = unwrap(openStaticFolder(dashboardFolder()));
  const { opened } = await start({ dashboard });
  const { url } = unwrap(opened);
  const look = (path: string) => fetch(`${url}${path}`, { redirect: "manual" });
  // Relative to the address that was asked for, as a browser resolves it: a proxy may have put a prefix before it.
  for (const [path, leadsTo] of [
    ["/workloads/web-shop", "/#/workloads/web-shop"],
    ["/workloads/a%2Fb%20c", "/#/workloads/a%2Fb%20c"],
    ["/agents/web-shop-agent/", "/#/agents/web-shop-agent"],
    ["/events", "/#/events"],
    ["/studies/", "/#/studies"],
    ["/fleet", "/#/fleet"],
  ] as const) {
    const { status, headers } = await look(path);
    expect(status, path).toBe(302);
    const location = headers.get("location") ?? "";
    expect(new URL(location, `https://example.org/prefix${path}`).href).toBe(`https://example.org/prefix${leadsTo}`);
  }
  expect(await (await fetch(`${url}/workloads/web-shop`)).text()).toContain("<title>Coxswain</title>");
  for (const path of [
    "/v1/workloads/nobody",
    "/v1/events/nothing",
    "/nothing",
    "/events.js",
    "/studies/a/b",
    "//events",
  ])
    expect((await look(path)).status, path).toBe(404);
  expect((await fetch(`${url}/events`, { method: "POST", redirect: "manual" })).status).toBe(404);
  const { url: bare } = unwrap((await start({})).opened);
  expect((await fetch(`${bare}/events`, { redirect: "manual" })).status).toBe(404);
});

test("a folder without a page is refused with what to do", () => {
  const empty = temporaryFolder("empty");
  expect(openStaticFolder(empty)).toMatchObject({ ok: false, failure: { code: "server.dashboard" } });
  expect(openStaticFolder(join(empty, "nothing"))).toMatchObject({ ok: false, failure: { code: "server.dashboard" } });
});
