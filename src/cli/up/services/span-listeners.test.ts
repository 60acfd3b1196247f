import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { unwrap } from "../../../base/index.ts";
import { NameTable, type SpanSink } from "../../../observe/telemetry/index.ts";
import { openSpanListeners } from "./span-listeners.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const sink: SpanSink = { names: new NameTable(), offer: () => ({ kind: "taken", unused: 0, why: "" }) };
const onDefect = (thrown: unknown): void => {
  throw thrown;
};

async function takenPort(): Promise<number> {
  const server: Server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  ends.push(() => server.close());
  return (server.address() as { port: number }).port;
}

const wanted = (port: number, isChosen: boolean) => ({ port, isChosen });
const anywhere = { host: "127.0.0.1", tokens: [] };

test("both listeners are opened and their addresses told", async () => {
  const otlp = { ...anywhere, http: wanted(0, true), grpc: wanted(0, true) };
  const opened = unwrap(await openSpanListeners(otlp, { sink, onDefect }));
  ends.push(() => opened.close());
  expect(opened.listeners).toEqual({
    http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    grpc: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    problems: [],
  });
  const answer = await fetch(`${opened.listeners.http}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"resourceSpans":[]}',
  });
  expect(answer.status).toBe(200);
  expect(opened.counts()).toMatchObject({ requests: 1, spans: 0 });
});

test("a usual port that another program has is told in one sentence, and the other listener is open", async () => {
  const otlp = { ...anywhere, http: wanted(await takenPort(), false), grpc: wanted(0, false) };
  const opened = unwrap(await openSpanListeners(otlp, { sink, onDefect }));
  ends.push(() => opened.close());
  expect(opened.listeners.http).toBeNull();
  expect(opened.listeners.grpc).not.toBeNull();
  expect(opened.listeners.problems).toHaveLength(1);
  expect(opened.listeners.problems[0]).toMatch(
    /another program listens there.*--otlp-http-port; the rest goes on without$/,
  );
});

test("a port that somebody chose and cannot have is a failure, and no listener stays open", async () => {
  const otlp = { ...anywhere, http: wanted(0, true), grpc: wanted(await takenPort(), true) };
  expect(await openSpanListeners(otlp, { sink, onDefect })).toMatchObject({
    ok: false,
    failure: { code: "otlp.bind" },
  });
});

test("no listener without a token where others can reach it, whoever chose the port", async () => {
  const otlp = { host: "0.0.0.0", tokens: [], http: wanted(0, false), grpc: null };
  expect(await openSpanListeners(otlp, { sink, onDefect })).toMatchObject({ failure: { code: "otlp.token-required" } });
});

test("without listeners nothing came", async () => {
  const opened = unwrap(await openSpanListeners(null, { sink, onDefect }));
  expect(opened.listeners).toEqual({ http: null, grpc: null, problems: [] });
  expect(opened.counts()).toMatchObject({ requests: 0, spans: 0, refused: {} });
});
