import { expect, test } from "vitest";
import { json, serverStage } from "../../../test/fixtures/server/fake-plane.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Problem, ServicesQuestion } from "../../contract/index.ts";

const bytes = (document: unknown): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(JSON.stringify(document)));

function stageThatSays(answer: unknown) {
  const asked: ServicesQuestion[] = [];
  const stage = serverStage({
    services: {
      ask: async (question) => {
        asked.push(question);
        return ok(bytes(answer));
      },
    },
  });
  return { stage, asked };
}

const READS: readonly [path: string, question: ServicesQuestion][] = [
  ["/v1/services", { kind: "services" }],
  ["/v1/services/graph", { kind: "graph", of: "services" }],
  ["/v1/services/graph?from=10&to=20&of=instances", { kind: "graph", of: "instances", from: 10, to: 20 }],
  ["/v1/services/suspects", { kind: "suspects", limit: 20 }],
  ["/v1/services/suspects?limit=3", { kind: "suspects", limit: 3 }],
  ["/v1/services/instances", { kind: "instances" }],
  ["/v1/services/paths", { kind: "paths" }],
  ["/v1/services/paths?request=frontend%2Flogin", { kind: "paths", request: "frontend/login" }],
  ["/v1/traces", { kind: "traces", order: "newest", limit: 50 }],
  [
    "/v1/traces?service=geo&operation=login&from=1&to=9&leastMs=30&order=slowest&limit=5",
    {
      kind: "traces",
      service: "geo",
      operation: "login",
      from: 1,
      to: 9,
      leastMs: 30,
      order: "slowest",
      limit: 5,
    },
  ],
  ["/v1/traces/0AF7651916CD43DD8448EB211C80319C", { kind: "trace", id: "0af7651916cd43dd8448eb211c80319c" }],
];

test.each(READS)(
  "%s asks for what its parameters say, and answers with the bytes that came",
  async (path, question) => {
    const { stage, asked } = stageThatSays({ some: "document" });
    const answer = await stage.ask(path);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ some: "document" });
    expect(asked).toEqual([question]);
  },
);

const WISH = { kind: "cpu", target: { on: "instance", name: "geo-0" }, intensity: 0.8, seconds: 60 };

test("an anomaly is asked for and called off, and both are in the audit log", async () => {
  const { stage, asked } = stageThatSays({ anomaly: {}, changed: [] });
  const begun = await stage.ask("/v1/services/anomalies", { method: "POST", ...json(WISH) });
  expect(begun.status).toBe(200);
  const stopped = await stage.ask("/v1/services/anomalies/anomaly-1/stop", { method: "POST" });
  expect(stopped.status).toBe(200);
  const commands = [
    { kind: "inject-anomaly", anomaly: WISH },
    { kind: "stop-anomaly", id: "anomaly-1" },
  ];
  expect(asked).toEqual(commands);
  expect(stage.audited.map(({ command }) => command)).toEqual(commands);
});

test("a request that comes twice under one key is carried out once", async () => {
  const { stage, asked } = stageThatSays({ anomaly: {}, changed: [] });
  const send = (wish: unknown = WISH) =>
    stage.ask("/v1/services/anomalies", { method: "POST", ...json(wish, { "idempotency-key": "k" }) });
  expect((await send()).status).toBe(200);
  expect((await send()).status).toBe(200);
  expect(asked).toHaveLength(1);
  expect((await send({ ...WISH, seconds: 5 })).status).toBe(422);
});

test.each([
  { ...WISH, kind: "fire" },
  { ...WISH, intensity: 1.5 },
  { ...WISH, seconds: 0 },
  { ...WISH, target: { on: "moon", name: "geo-0" } },
  { ...WISH, more: 1 },
])("a wish that means nothing is refused before anybody is asked: %j", async (wish) => {
  const { stage, asked } = stageThatSays({});
  const answer = await stage.ask("/v1/services/anomalies", { method: "POST", ...json(wish) });
  expect(answer.status).toBe(400);
  expect(asked).toEqual([]);
});

test("without services it says how to have them; a failure of theirs keeps its code", async () => {
  const nobody = await serverStage().ask("/v1/services");
  expect(nobody.status).toBe(404);
  expect(((await nobody.json()) as Problem).code).toBe("services.none");
  const services = { ask: async () => err(failure("services.unknown-trace", "there is no such trace")) };
  const missing = await serverStage({ services }).ask("/v1/traces/abc");
  expect(missing.status).toBe(404);
  expect(((await missing.json()) as Problem).code).toBe("services.unknown-trace");
});
