/** What is known of services in a running `up`, from simulated spans to the API's documents, under a clock of the test's. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTraceStore } from "../../src/adapters/store/index.ts";
import { milliseconds, unwrap } from "../../src/base/index.ts";
import { Answers } from "../../src/cli/up/services/answers.ts";
import { LocalizerSchool } from "../../src/cli/up/services/localizer-school.ts";
import { Mitigator } from "../../src/cli/up/services/mitigator.ts";
import { ServiceKnowledge } from "../../src/cli/up/services/service-knowledge.ts";
import { SimulatedApplication } from "../../src/cli/up/services/simulated-application.ts";
import { TraceDesk } from "../../src/cli/up/services/trace-desk.ts";
import { Localizer } from "../../src/control/localize/index.ts";
import { SPAN_DROP_REASONS, type TraceStore } from "../../src/observe/telemetry/index.ts";
import type { ServicesQuestion } from "../../src/server/index.ts";
import { pageOf } from "../../src/server/schemas.ts";
import * as schemas from "../../src/server/services-schemas.ts";
import { hotelReservation } from "../../src/sim/index.ts";

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
  const knowledge = new ServiceKnowledge(localizer);
  const simulated = new SimulatedApplication({ application: hotelReservation, seed: 1_003, now: now() });
  const onTrouble = (why: unknown) => {
    if (why !== null) throw why;
  };
  const desk = new TraceDesk({ store, journal: null, now, onTraces: (t, n) => knowledge.seeTraces(t, n), onTrouble });
  const doors = { http: "http://127.0.0.1:4318", grpc: null, problems: [] };
  const dropped = Object.fromEntries(SPAN_DROP_REASONS.map((reason) => [reason, 0])) as never;
  const intake = () => ({ requests: 0, spans: 0, refused: {}, dropped });
  const mitigator = new Mitigator({
    ...{ port: simulated.port, wallOf: (at) => simulated.wallOf(at), mode: "observe", since: null },
  });
  const answers = new Answers({
    ...{ now, doors, intake, desk, store, knowledge, simulated, mitigator, folder: null },
  });
  const run = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      at += 1_000;
      desk.admit(simulated.advance(now()));
      mitigator.turn();
      await desk.turn();
      const culprits = simulated.culprits();
      knowledge.turn(now(), {
        instances: simulated.instances(),
        requests: simulated.requests(),
        truth: { culprits, isWhole: culprits.length === simulated.anomalies().length },
      });
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
    expect(pageOf("I", schemas.instanceSchema).safeParse(await ask({ kind: "instances" })).error).toBeUndefined();
    expect(schemas.pathsSchema.safeParse(await ask({ kind: "paths" })).error).toBeUndefined();
    const page = pageOf("T", schemas.traceSummarySchema).parse(
      await ask({ kind: "traces", order: "slowest", limit: 3 }),
    );
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

test("a culprit is named within seconds, with what it lacks, by a localizer that has had its lessons", async () => {
  const school = new LocalizerSchool({
    application: hotelReservation,
    seed: 1_001,
    start: milliseconds(START - 3_600_000),
    episodes: 10,
  });
  while (!school.isOver) school.lesson();
  const { run, ask } = stage(school.localizer);
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
