import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { stage } from "../../../test/fixtures/loop/scripted.ts";
import { type ReceivedSpan, readSpans } from "../../../test/fixtures/observability/otlp.ts";
import type { Failure } from "../../base/index.ts";
import { err, failure } from "../../base/index.ts";
import { openTracing } from "./index.ts";

let server: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

/** A receiver on loopback that keeps what it is sent. */
async function receiver(status = 200) {
  const received: { path: string; type: string | undefined; spans: ReceivedSpan[] }[] = [];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
      received.push({ path: request.url ?? "", type: request.headers["content-type"], spans: readSpans(plain) });
      response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const opened = (env: Record<string, string>, onFailure: (why: Failure) => void = () => {}) => {
  const tracing = openTracing({ env, version: "1.2.3", onFailure });
  if (!tracing.ok || tracing.value === undefined) throw new Error("tracing is off");
  return tracing.value;
};

test("without an endpoint there is no watcher, so that turns are not even told to it", () => {
  expect(openTracing({ env: {}, version: "0" })).toEqual({ ok: true, value: undefined });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", OTEL_SDK_DISABLED: "true" };
  expect(openTracing({ env, version: "0" })).toEqual({ ok: true, value: undefined });
});

test.each(["127.0.0.1:4318", "ftp://example.org", "collector"])("an endpoint such as %s is refused", (endpoint) => {
  const refused = openTracing({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, version: "0" });
  expect(refused).toMatchObject({ ok: false, failure: { code: "tracing.endpoint" } });
});

test("a turn arrives at a receiver as one span with a child per phase", async () => {
  const { received, url } = await receiver();
  const tracing = opened({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` });
  const { clock, loop, slot } = stage({ watcher: tracing.watcher });
  slot("web", { copies: () => 5 });
  await clock.pass(1_000);
  await loop.stop();
  await tracing.close();
  expect(received.map(({ path, type }) => [path, type])).toEqual([["/v1/traces", "application/x-protobuf"]]);
  const spans = received.flatMap((request) => request.spans);
  const [root] = spans.filter(({ parent }) => parent === "");
  expect(root).toMatchObject({ name: "turn", status: 0 });
  expect(root?.attributes).toEqual({
    "coxswain.agent": "web",
    "coxswain.workload": "web",
    "coxswain.stage": "ONLINE",
    "coxswain.who": "learner",
    "coxswain.why": ["lifecycle: training"],
    "coxswain.action": "set",
  });
  expect(root?.resource).toMatchObject({ "service.name": "coxswain", "service.version": "1.2.3" });
  const children = spans.filter(({ parent }) => parent === root?.id).sort((a, b) => Number(a.start - b.start));
  expect(children.map(({ name }) => name)).toEqual([
    ...["loop.restore", "loop.read", "loop.tick", "loop.actuate", "loop.record"],
  ]);
  expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1);
  for (const child of children) {
    expect(child.start >= root!.start && child.end <= root!.end && child.start <= child.end).toBe(true);
  }
});

test("a crash and a failed action mark their turns as errors; each turn is a trace of its own", async () => {
  const { received, url } = await receiver();
  const tracing = opened({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/here` });
  const { clock, loop, slot, actuator } = stage({ watcher: tracing.watcher });
  actuator.apply = async () => err(failure("x.refused", "no"));
  slot("web", { copies: () => 5 });
  slot("api", {
    tick: () => {
      throw new Error("broken");
    },
  });
  await clock.pass(14_900);
  await loop.stop();
  await tracing.close();
  expect(received[0]?.path).toBe("/here");
  const roots = received.flatMap(({ spans }) => spans).filter(({ parent }) => parent === "");
  expect(
    roots.map(({ attributes, status, message }) => [attributes["coxswain.agent"], status, message]).sort(),
  ).toEqual([
    ["api", 2, "the agent crashed"],
    ["web", 2, "x.refused"],
  ]);
  expect(new Set(roots.map(({ trace }) => trace)).size).toBe(2);
});

test("a receiver that refuses is told about once, and turns go on", async () => {
  const { url } = await receiver(400);
  const told: Failure[] = [];
  const tracing = opened({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, (why) => told.push(why));
  const { clock, loop, slot } = stage({ watcher: tracing.watcher });
  const { agent } = slot("web");
  await clock.pass(29_900);
  await loop.stop();
  await tracing.close();
  expect(agent.seen).toHaveLength(2);
  expect(told.map(({ code }) => code)).toEqual(["tracing.export"]);
});
