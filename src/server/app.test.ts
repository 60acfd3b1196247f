import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";
import {
  agent,
  decision,
  event,
  json,
  START,
  type Stage,
  samples,
  serverStage,
  workload,
} from "../../test/fixtures/server/fake-plane.ts";
import { err, failure } from "../base/index.ts";
import type { Problem } from "../contract/index.ts";
import {
  agentSchema,
  commandDoneSchema,
  decisionSchema,
  eventSchema,
  metricsSchema,
  overviewSchema,
  pageOf,
  problemSchema,
  seriesSchema,
  studyResultSchema,
  studySummarySchema,
  trajectorySchema,
  workloadSchema,
} from "../contract/schemas/index.ts";
import { openStudyFolder } from "./study-folder.ts";

const study = {
  study: "tiny",
  title: "Tiny",
  quick: true,
  seeds: [1, 2],
  wallSeconds: 1,
  world: "none",
  version: "0.1.0",
  rows: [
    {
      id: "r",
      what: "reward",
      paper: null,
      ours: { mean: 1, lo: 0, hi: 2, n: 2, unit: "reward" },
      claim: "at least 0",
      kind: "promise",
      target: { direction: "at-least", bound: 0, none: null },
      holds: true,
    },
    {
      id: "f",
      what: "violations",
      paper: { low: 5, high: 5, unit: "×", where: "Fig. 1" },
      ours: { mean: 3, lo: 2, hi: 4, n: 2, unit: "×" },
      claim: "at least 5×",
      kind: "reproduction",
      target: { direction: "at-least", bound: 5, none: 1 },
      outcome: "same-direction",
      holds: false,
    },
    {
      id: "s",
      what: "cores",
      paper: null,
      ours: { mean: 1, lo: 0, hi: 2, n: 2, unit: "cores" },
      claim: "shown, not judged",
      kind: "shown",
      holds: null,
    },
  ],
};

function studyFolder(): string {
  const folder = temporaryFolder("studies");
  writeFileSync(join(folder, "tiny.json"), JSON.stringify(study));
  writeFileSync(join(folder, "tiny.svg"), "<svg/>");
  writeFileSync(join(folder, "tiny-more.svg"), "<svg/>");
  writeFileSync(join(folder, "torn.json"), "{");
  return folder;
}

function fullStage(): Stage {
  const stage = serverStage({ studies: openStudyFolder(studyFolder()), metrics: () => "coxswain_up 1\n" });
  stage.plane.send(
    samples(START + 10, ["cart", "pay"]),
    decision("cart"),
    decision("pay", { who: "learner" }),
    event("an error", { severity: "error", workload: "cart" }),
    event("a note"),
  );
  return stage;
}

const problem = async (answer: Response): Promise<Problem> => {
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  return problemSchema.parse(await answer.json());
};

test.each([
  [
    "/v1/overview",
    overviewSchema,
    { worlds: [{ kind: "fake", tasks: ["pods"], speed: 60, at: START + 10 }], version: "0.1.0" },
  ],
  ["/v1/workloads", pageOf("W", workloadSchema), { items: [{ id: "cart" }, { id: "pay" }], next: null }],
  ["/v1/workloads/cart", workloadSchema, { id: "cart", now: { latency: 40 } }],
  ["/v1/workloads/cart/series", seriesSchema, { workload: "cart", at: [START + 10], columns: { latency: [40] } }],
  ["/v1/workloads/cart/series?from=0&to=5&points=10", seriesSchema, { at: [] }],
  ["/v1/decisions", pageOf("D", decisionSchema), { items: [{ id: 2 }, { id: 1 }], next: null }],
  ["/v1/decisions?limit=1", pageOf("D", decisionSchema), { items: [{ id: 2 }], next: "2" }],
  ["/v1/decisions?limit=1&cursor=2", pageOf("D", decisionSchema), { items: [{ id: 1 }], next: null }],
  ["/v1/decisions?workload=cart", pageOf("D", decisionSchema), { items: [{ workload: "cart" }] }],
  ["/v1/decisions?agent=pay-agent", pageOf("D", decisionSchema), { items: [{ agent: "pay-agent", who: "learner" }] }],
  ["/v1/agents", pageOf("A", agentSchema), { items: [{ id: "cart-agent" }, { id: "pay-agent" }] }],
  ["/v1/agents/cart-agent", agentSchema, { id: "cart-agent", revision: 1 }],
  ["/v1/trajectories?agent=cart-agent&limit=2", pageOf("T", trajectorySchema), { next: "2" }],
  ["/v1/trajectories?agent=cart-agent&cursor=2", pageOf("T", trajectorySchema), { items: [{ step: 2 }], next: null }],
  ["/v1/events", pageOf("E", eventSchema), { items: [{ text: "a note" }, { text: "an error" }] }],
  ["/v1/events?severity=warning", pageOf("E", eventSchema), { items: [{ text: "an error" }] }],
  ["/v1/events?workload=cart&limit=1", pageOf("E", eventSchema), { items: [{ text: "an error" }], next: null }],
  [
    "/v1/metrics",
    metricsSchema,
    { tasks: [{ task: "pods", at: START + 10, learned: { attainment: 0.9 } }], server: { streams: 0 } },
  ],
  [
    "/v1/studies",
    pageOf("S", studySummarySchema),
    {
      items: [
        {
          id: "tiny",
          promises: 1,
          promisesHeld: 1,
          reproductions: 1,
          reproduced: 0,
          sameDirection: 1,
          figures: ["tiny-more.svg", "tiny.svg"],
        },
      ],
    },
  ],
  ["/v1/studies/tiny", studyResultSchema, { study: "tiny" }],
  ["/livez", z.unknown(), { ok: true }],
  ["/readyz", z.unknown(), { ok: true, notes: [] }],
])("GET %s answers what the contract says", async (path, schema, expected) => {
  const answer = await fullStage().ask(path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  const document: unknown = await answer.json();
  expect(schema.safeParse(document).error).toBeUndefined();
  expect(document).toMatchObject(expected);
});

test("figures and metrics are given as they are", async () => {
  const stage = fullStage();
  const figure = await stage.ask("/v1/studies/tiny/figures/tiny-more.svg");
  expect([figure.headers.get("content-type"), await figure.text()]).toEqual(["image/svg+xml", "<svg/>"]);
  expect(figure.headers.get("content-security-policy")).toContain("sandbox");
  const figures = await stage.ask("/metrics");
  expect(await figures.text()).toBe("coxswain_up 1\n");
});

test.each([
  ["/v1/workloads/nobody", 404, "server.not-found"],
  ["/v1/workloads/nobody/series", 404, "server.not-found"],
  ["/v1/agents/nobody", 404, "server.not-found"],
  ["/v1/trajectories?agent=nobody", 404, "server.not-found"],
  ["/v1/studies/nobody", 404, "server.not-found"],
  ["/v1/studies/torn", 503, "server.study-unreadable"],
  ["/v1/studies/tiny/figures/torn.json", 404, "server.not-found"],
  ["/v1/studies/..%2F..%2Fetc", 400, "server.bad-request"],
  ["/v1/nothing", 404, "server.not-found"],
  ["/", 404, "server.not-found"],
  ["/v1/trajectories", 400, "server.bad-request"],
  ["/v1/decisions?limit=0", 400, "server.bad-request"],
  ["/v1/decisions?limit=501", 400, "server.bad-request"],
  ["/v1/decisions?limit=ten", 400, "server.bad-request"],
  ["/v1/decisions?limit=1&limit=2", 400, "server.bad-request"],
  ["/v1/decisions?cursor=-1", 400, "server.bad-request"],
  ["/v1/decisions?colour=red", 400, "server.bad-request"],
  ["/v1/events?severity=mild", 400, "server.bad-request"],
  ["/v1/workloads/cart/series?points=1", 400, "server.bad-request"],
  ["/v1/workloads/cart/series?from=yesterday", 400, "server.bad-request"],
])("GET %s is refused with %i and %s", async (path, status, code) => {
  const answer = await fullStage().ask(path);
  expect(answer.status).toBe(status);
  expect(await problem(answer)).toMatchObject({ status, code });
});

test("a refused parameter is named", async () => {
  const answer = await fullStage().ask("/v1/decisions?limit=0");
  expect((await problem(answer)).detail).toBe("query.limit: must be from 1 to 500");
});

test("readiness says why it is not, and what was lost where it is", async () => {
  const { ask, plane } = serverStage();
  expect(await (await ask("/readyz")).json()).toEqual({ ok: true, notes: [] });
  plane.notes = ["two lines are damaged"];
  expect(await (await ask("/readyz")).json()).toEqual({ ok: true, notes: ["two lines are damaged"] });
  plane.reasons = ["the store is full"];
  const answer = await ask("/readyz");
  expect(answer.status).toBe(503);
  expect(await problem(answer)).toMatchObject({
    code: "server.not-ready",
    detail: "not ready: the store is full; besides: two lines are damaged",
  });
});

test.each(["plane.not-saved", "services.not-saved"])(
  "%s is in force, so it is no refusal, and it is 507",
  async (code) => {
    const { ask, plane, audited } = serverStage();
    plane.answer = () => Promise.resolve(err(failure(code, "the change is in force but could not be saved")));
    const answer = await ask("/v1/agents/cart-agent/pause", { method: "POST" });
    expect(answer.status).toBe(507);
    expect(await problem(answer)).toMatchObject({ code, title: "In force, but not saved" });
    expect(audited).toMatchObject([{ outcome: "unsaved", status: 507, code }]);
  },
);

test.each([
  ["POST", "/v1/agents/cart-agent/pause", undefined, { kind: "pause", agent: "cart-agent" }],
  ["POST", "/v1/agents/cart-agent/resume", undefined, { kind: "resume", agent: "cart-agent" }],
  ["POST", "/v1/agents/cart-agent/promote", undefined, { kind: "promote", agent: "cart-agent" }],
  ["POST", "/v1/agents/cart-agent/roll-back", undefined, { kind: "roll-back", agent: "cart-agent" }],
  ["PUT", "/v1/agents/cart-agent/mode", { mode: "canary" }, { kind: "set-mode", agent: "cart-agent", mode: "canary" }],
  [
    "PUT",
    "/v1/workloads/cart/slo",
    { kind: "latency", quantile: 0.95, target: 80 },
    { kind: "set-slo", workload: "cart", slo: { kind: "latency", quantile: 0.95, target: 80 } },
  ],
  [
    "PUT",
    "/v1/workloads/cart/slo",
    { kind: "availability", target: 0.999 },
    { kind: "set-slo", workload: "cart", slo: { kind: "availability", target: 0.999 } },
  ],
  [
    "POST",
    "/v1/workloads/cart/faults",
    { fault: "load-surge" },
    { kind: "inject", workload: "cart", fault: "load-surge" },
  ],
])("%s %s reaches the plane and the audit log", async (method, path, body, command) => {
  const { ask, plane, audited, clock } = serverStage();
  const answer = await ask(path, { method, ...(body === undefined ? {} : json(body)) });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("etag")).toBe('"2"');
  expect(commandDoneSchema.parse(await answer.json())).toEqual({ revision: 2 });
  expect(plane.commands).toEqual([{ command, revision: null }]);
  expect(audited).toEqual([
    { at: clock.now(), who: "loopback", method, path, command, outcome: "done", status: 200, code: null },
  ]);
});

test("two clients that saw the same revision: one wins, the other is told", async () => {
  const { ask, plane, audited } = serverStage();
  const seen = (await ask("/v1/agents/cart-agent")).headers.get("etag") ?? "";
  expect(seen).toBe('"1"');
  const promote = () => ask("/v1/agents/cart-agent/promote", { method: "POST", headers: { "if-match": seen } });
  const answers = await Promise.all([promote(), promote()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 412]);
  expect(await problem(answers[1])).toMatchObject({ code: "plane.revision" });
  expect(plane.commands).toHaveLength(1);
  expect(audited.map(({ outcome, code }) => [outcome, code])).toEqual([
    ["done", null],
    ["refused", "plane.revision"],
  ]);
});

test.each([
  ["*", 200],
  ['"1"', 200],
  ['"7"', 412],
  ["1", 400],
  ['W/"1"', 400],
  ['"1", "2"', 400],
  ['"99999999999999999999"', 400],
])("If-Match: %s answers %i", async (header, status) => {
  const answer = await serverStage().ask("/v1/agents/cart-agent/pause", {
    method: "POST",
    headers: { "if-match": header },
  });
  expect(answer.status).toBe(status);
});

test("a server that asks for If-Match refuses what comes without", async () => {
  const answer = await serverStage({ requireIfMatch: true }).ask("/v1/agents/cart-agent/pause", { method: "POST" });
  expect(await problem(answer)).toMatchObject({ status: 428, code: "server.if-match-missing" });
});

test("the same Idempotency-Key carries a command out once; for another request it is refused", async () => {
  const { ask, plane, clock } = serverStage();
  const headers = { "idempotency-key": "abc" };
  const once = () => ask("/v1/agents/cart-agent/promote", { method: "POST", headers });
  expect(await (await once()).json()).toEqual({ revision: 2 });
  expect(await (await once()).json()).toEqual({ revision: 2 });
  expect(plane.commands).toHaveLength(1);
  const other = await ask("/v1/agents/pay-agent/promote", { method: "POST", headers });
  expect(await problem(other)).toMatchObject({ status: 422, code: "server.idempotency-key" });
  clock.move(600_001);
  expect(await (await once()).json()).toEqual({ revision: 3 });
});

test("an attempt that may go better the next time is not remembered by its Idempotency-Key", async () => {
  const { ask, plane } = serverStage();
  const promote = () => ask("/v1/agents/cart-agent/promote", { method: "POST", headers: { "idempotency-key": "abc" } });
  plane.answer = async () => err(failure("plane.example", "it restarts", { retry: true }));
  expect((await promote()).status).toBe(503);
  plane.answer = null;
  expect((await promote()).status).toBe(200);
});

test.each([
  ["a wrong body", json({ mode: "wild" }), 400, "server.bad-request"],
  ["a further field", json({ mode: "act", more: 1 }), 400, "server.bad-request"],
  ["no body", {}, 400, "server.bad-request"],
  ["no JSON", { ...json(0), body: "{" }, 400, "server.bad-request"],
  ["a form", { body: "mode=act", headers: { "content-type": "text/plain" } }, 415, "server.not-json"],
  ["a huge body", json({ mode: "x".repeat(20_000) }), 413, "server.body-too-large"],
])("%s is refused, and the refusal is audited", async (_what, init, status, code) => {
  const { ask, plane, audited } = serverStage();
  const answer = await ask("/v1/agents/cart-agent/mode", { method: "PUT", ...init });
  expect(await problem(answer)).toMatchObject({ status, code });
  expect(plane.commands).toEqual([]);
  expect(audited).toMatchObject([{ outcome: "refused", status, code, command: null }]);
});

test("what the plane refuses is a conflict, what passes by itself is unavailable", async () => {
  const { ask, plane } = serverStage();
  const pause = () => ask("/v1/agents/cart-agent/pause", { method: "POST" });
  plane.answer = async () => err(failure("plane.example", "it is paused already"));
  expect(await problem(await pause())).toMatchObject({
    status: 409,
    code: "plane.example",
    detail: "it is paused already",
  });
  plane.answer = async () => err(failure("plane.example", "it restarts", { retry: true }));
  expect((await pause()).status).toBe(503);
});

test("a plane that does not answer costs a request its time limit and no more", async () => {
  const { ask, plane, clock } = serverStage();
  plane.answer = () => new Promise(() => undefined);
  const asked = ask("/v1/agents/cart-agent/pause", { method: "POST" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  clock.move(5_000);
  expect(await problem(await asked)).toMatchObject({ status: 504, code: "server.timeout" });
});

test("a defect gives a 500 without its text, and the text goes to whoever looks after the server", async () => {
  const { ask, plane, defects } = serverStage();
  plane.answer = async () => {
    throw new Error("secret path");
  };
  const answer = await ask("/v1/agents/cart-agent/pause", { method: "POST" });
  expect((await problem(answer)).detail).not.toContain("secret");
  expect(answer.status).toBe(500);
  expect(defects).toMatchObject([{ message: "secret path" }]);
});

test("writes are limited per sender, the bucket fills again, and a flood is audited once", async () => {
  const { ask, clock, audited } = serverStage({ limits: { writeBurst: 2, writesPerSecond: 1 } });
  const pause = async () => (await ask("/v1/agents/cart-agent/pause", { method: "POST" })).status;
  expect([await pause(), await pause(), await pause(), await pause()]).toEqual([200, 200, 429, 429]);
  expect(audited.map(({ status }) => status)).toEqual([200, 200, 429]);
  clock.move(1_000);
  expect([await pause(), await pause()]).toEqual([200, 429]);
});

test("a path that exists answers another method with what it takes", async () => {
  const { ask } = serverStage();
  const answer = await ask("/v1/agents/cart-agent/mode", { method: "DELETE" });
  expect(answer.headers.get("allow")).toBe("PUT");
  expect(await problem(answer)).toMatchObject({ status: 405, code: "server.method" });
  expect((await ask("/v1/overview", { method: "HEAD" })).status).toBe(200);
});

test("answers are reported by pattern, not by path", async () => {
  const seen: unknown[] = [];
  const { ask } = serverStage({ onAnswer: ({ method, route, status }) => seen.push([method, route, status]) });
  await ask("/v1/agents/cart-agent");
  await ask("/v1/agents/nobody");
  await ask("/what/ever");
  expect(seen).toEqual([
    ["GET", "/v1/agents/:id", 200],
    ["GET", "/v1/agents/:id", 404],
    ["GET", "other", 404],
  ]);
});

test("a closed app has let go of the plane", () => {
  const { app, plane } = serverStage();
  expect(plane.subscribers).toBe(1);
  app.close();
  expect(plane.subscribers).toBe(0);
});

test("a new workload and a changed agent are seen at once", async () => {
  const { ask, plane } = serverStage();
  plane.send(workload("third"), agent("cart-agent", { revision: 9 }));
  expect((await ask("/v1/workloads/third")).status).toBe(200);
  expect((await ask("/v1/agents/cart-agent")).headers.get("etag")).toBe('"9"');
});

test("lists can be had of one task alone", async () => {
  const { ask, plane } = serverStage();
  plane.send(workload("geo", 1, { task: "mitigation" }), agent("geo-agent"));
  plane.send(decision("cart"), decision("geo"), event("late", { workload: "geo" }), event("for all"));
  const items = async (path: string): Promise<readonly Record<string, unknown>[]> =>
    ((await (await ask(path)).json()) as { items: Record<string, unknown>[] }).items;
  expect((await items("/v1/workloads")).map(({ id }) => id)).toEqual(["cart", "pay", "geo"]);
  expect((await items("/v1/workloads?task=mitigation")).map(({ id }) => id)).toEqual(["geo"]);
  expect((await items("/v1/agents?task=pods")).map(({ id }) => id)).toEqual(["cart-agent", "pay-agent"]);
  expect((await items("/v1/decisions?task=mitigation")).map((one) => one["workload"])).toEqual(["geo"]);
  expect(await items("/v1/decisions?task=mitigation&workload=cart")).toEqual([]);
  expect((await items("/v1/events?task=mitigation")).map(({ text }) => text)).toEqual(["late"]);
  expect(await items("/v1/workloads?task=nothing")).toEqual([]);
});

test("what the plane told before it was started again is shown", async () => {
  const { ask, plane } = serverStage();
  plane.sendPast(workload("old"), samples(START - 30_000, ["old"]), decision("old"), event("from before"));
  const series = (await (await ask("/v1/workloads/old/series")).json()) as { at: number[] };
  expect(series.at).toEqual([START - 30_000]);
  const decisions = (await (await ask("/v1/decisions?workload=old")).json()) as { items: unknown[] };
  expect(decisions.items).toHaveLength(1);
  const events = (await (await ask("/v1/events")).json()) as { items: { text: string }[] };
  expect(events.items.map(({ text }) => text)).toContain("from before");
});
