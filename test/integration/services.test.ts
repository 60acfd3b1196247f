/** What is known of services in a running `up`, from simulated spans to the API's documents, under a clock of the test's. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTraceStore } from "../../src/adapters/store/index.ts";
import { milliseconds, unwrap } from "../../src/base/index.ts";
import { Answers } from "../../src/cli/up/services/answers.ts";
import { Mitigator } from "../../src/cli/up/services/mitigator.ts";
import { RequestSlos } from "../../src/cli/up/services/request-slos.ts";
import { ServiceKnowledge } from "../../src/cli/up/services/service-knowledge.ts";
import { ServicesWorld } from "../../src/cli/up/services/services-world.ts";
import { SimulatedApplication } from "../../src/cli/up/services/simulated-application.ts";
import { TracePipeline } from "../../src/cli/up/services/trace-pipeline.ts";
import type { ServicesQuestion } from "../../src/contract/index.ts";
import * as schemas from "../../src/contract/schemas/index.ts";
import { Localizer, pretrainLocalizer } from "../../src/control/localize/index.ts";
import { SPAN_DROP_REASONS, type TraceStore } from "../../src/observe/telemetry/index.ts";
import { disturbedApplication, hotelReservation } from "../../src/sim/index.ts";

const START = 1_800_000_000_000;
let store: TraceStore;
beforeEach(async () => {
  store = await openTraceStore({ path: ":memory:" });
});
afterEach(() => store.close());

/** As services-worker.ts puts them together, a second at a time. */
function stage(localizer: Localizer) {
  let at = START;
  const now = () => milliseconds(at);
  const knowledge = new ServiceKnowledge({ localizer });
  const simulated = new SimulatedApplication({ application: hotelReservation, seed: 1_003, now: now() });
  const onTrouble = (why: unknown) => {
    if (why !== null) throw why;
  };
  const pipeline = new TracePipeline({
    store,
    journal: null,
    now,
    monotonic: now,
    onSpans: (b, n) => knowledge.seeSpans(b, n),
    onTraces: (t, n) => knowledge.seeTraces(t, n),
    onTrouble,
  });
  const listeners = { http: "http://127.0.0.1:4318", grpc: null, problems: [] };
  const dropped = Object.fromEntries(SPAN_DROP_REASONS.map((reason) => [reason, 0])) as never;
  const intake = () => ({ requests: 0, spans: 0, refused: {}, dropped });
  const world = new ServicesWorld({ simulated, knowledge, pipeline });
  const mitigator = new Mitigator({ simulated, knowledge, world, mode: "observe", since: null });
  const answers = new Answers({
    now,
    listeners,
    intake,
    pipeline,
    store,
    knowledge,
    slos: new RequestSlos({}, {}),
    simulated,
    mitigator,
    folder: null,
    saved: { mode: "act", since: null },
  });
  const run = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      at += 1_000;
      await mitigator.advance(now());
      await pipeline.turn();
    }
  };
  const ask = async (question: ServicesQuestion): Promise<unknown> =>
    JSON.parse(JSON.stringify(unwrap(await answers.to(question))));
  return { run, ask, answers };
}

test("every answer is as the API's schema says, from the first moment on", async () => {
  const { run, ask } = stage(new Localizer({ seed: 1 }));
  for (const seconds of [0, 12]) {
    await run(seconds);
    expect(schemas.servicesSchema.safeParse(await ask({ kind: "services" })).error).toBeUndefined();
    for (const of of ["services", "instances"] as const)
      expect(schemas.graphSchema.safeParse(await ask({ kind: "graph", of })).error).toBeUndefined();
    expect(schemas.suspectsSchema.safeParse(await ask({ kind: "suspects", limit: 5 })).error).toBeUndefined();
    expect(
      schemas.pageOf("I", schemas.instanceSchema).safeParse(await ask({ kind: "instances" })).error,
    ).toBeUndefined();
    expect(schemas.pathsSchema.safeParse(await ask({ kind: "paths" })).error).toBeUndefined();
    const page = schemas
      .pageOf("T", schemas.traceSummarySchema)
      .parse(await ask({ kind: "traces", order: "slowest", limit: 3 }));
    for (const { id, durationMs } of page.items) {
      const trace = schemas.traceSchema.parse(await ask({ kind: "trace", id }));
      // The path tiles the request, and so do the times that each span alone held it up.
      const tiled = trace.path.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
      const held = trace.tree.reduce((sum, { criticalMs }) => sum + (criticalMs ?? 0), 0);
      expect(tiled).toBeCloseTo(durationMs, 6);
      expect(held).toBeCloseTo(durationMs, 6);
    }
  }
  const graph = schemas.graphSchema.parse(await ask({ kind: "graph", of: "services" }));
  expect(graph.vertices).toHaveLength(15);
  expect(graph.edges.map(({ caller, callee }) => `${caller} ${callee}`)).toContain("search geo");
});

test("a culprit is named within seconds, with what it lacks, by a localizer that was pre-trained", async () => {
  const start = milliseconds(START - 3_600_000);
  const world = disturbedApplication({ application: hotelReservation, seed: 1_001, start });
  const localizer = pretrainLocalizer({ world, seed: 1_001, episodes: 10 });
  const { run, ask } = stage(localizer);
  await run(20);
  const calm = schemas.suspectsSchema.parse(await ask({ kind: "suspects", limit: 1 }));
  expect(calm.isTrained).toBe(true);
  const wish = { kind: "cpu", target: { on: "instance", name: "user-0" }, intensity: 0.9, seconds: 60 } as const;
  const done = schemas.anomalyDoneSchema.parse(await ask({ kind: "inject-anomaly", anomaly: wish }));
  await run(18);
  const { items } = schemas.suspectsSchema.parse(await ask({ kind: "suspects", limit: 3 }));
  expect(items[0]).toMatchObject({ instance: "user-0", resource: "cpu", isCulprit: true });
  expect(items[0]?.expectedSavingMs).toBeGreaterThan(5);
  const graph = schemas.graphSchema.parse(await ask({ kind: "graph", of: "services" }));
  const blamed = [...graph.vertices].sort((a, b) => b.blame - a.blame)[0];
  expect(blamed?.name).toBe("user");
  await ask({ kind: "stop-anomaly", id: done.anomaly.id });
  expect(schemas.servicesSchema.parse(await ask({ kind: "services" })).simulated?.anomalies).toEqual([]);
});

test("what is not there is said by its code", async () => {
  const { answers } = stage(new Localizer({ seed: 1 }));
  expect(await answers.to({ kind: "trace", id: "ab" })).toMatchObject({ failure: { code: "services.unknown-trace" } });
  expect(await answers.to({ kind: "stop-anomaly", id: "x" })).toMatchObject({
    failure: { code: "services.unknown-anomaly" },
  });
});

test("a request type that a person gave an SLO is judged by its spans, and taken back it is the application's again", async () => {
  const { run, ask } = stage(new Localizer({ seed: 1 }));
  await run(12);
  const page = schemas.pageOf("R", schemas.requestSchema);
  const of = async (name: string) =>
    page.parse(await ask({ kind: "requests" })).items.find(({ request }) => request === name);
  const before = await of("login");
  expect(before).toMatchObject({ isOwn: false, isBroken: false });
  expect(await ask({ kind: "set-request-slo", request: "login", sloMs: 0.01 })).toEqual({
    request: "login",
    sloMs: 0.01,
  });
  await run(1);
  expect(await of("login")).toMatchObject({ isOwn: true, sloMs: 0.01, isBroken: true });
  await ask({ kind: "set-request-slo", request: "login", sloMs: null });
  await run(1);
  expect(await of("login")).toMatchObject({ isOwn: false, sloMs: before?.sloMs, isBroken: false });
});
