import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openTraceStore } from "../../../adapters/store/index.ts";
import { milliseconds, unwrap } from "../../../base/index.ts";
import type { ActingMode } from "../../../contract/index.ts";
import { decodeLocalizer, encodeLocalizer, pretrainLocalizer } from "../../../control/localize/index.ts";
import { referenceKernels } from "../../../learn/tensor/index.ts";
import type { TraceStore } from "../../../observe/telemetry/index.ts";
import { disturbedApplication, hotelReservation } from "../../../sim/index.ts";
import { Mitigator, modeFor } from "./mitigator.ts";
import { ServiceKnowledge } from "./service-knowledge.ts";
import { openServicesPlane } from "./services-plane.ts";
import { ServicesWorld, serviceId } from "./services-world.ts";
import { SimulatedApplication } from "./simulated-application.ts";
import { TracePipeline } from "./trace-pipeline.ts";

const NOW = 1_800_000_000_000;

/** Pre-training costs seconds: one for all tests. */
let pretrained: Uint8Array;
beforeAll(() => {
  const world = disturbedApplication({ application: hotelReservation, seed: 1_002, start: milliseconds(0) });
  pretrained = encodeLocalizer(pretrainLocalizer({ world, seed: 1_002, episodes: 8 }));
});

let store: TraceStore;
beforeEach(async () => {
  store = await openTraceStore({ path: ":memory:" });
});
afterEach(() => store.close());

/** Nobody is trained: what agents do here they do with the policy that they begin with. */
const training = {
  trainer: { slots: 0, train: () => Promise.reject(new Error("nobody trains here")) },
  close: async () => undefined,
};

/** As services-worker.ts puts them together. */
function stage(mode: ActingMode) {
  let at = NOW;
  const now = () => milliseconds(at);
  const { name } = hotelReservation;
  const knowledge = new ServiceKnowledge({
    localizer: unwrap(decodeLocalizer(pretrained)),
    idOf: (service) => serviceId(name, service),
  });
  const simulated = new SimulatedApplication({ application: hotelReservation, seed: 1_003, now: now() });
  const pipeline = new TracePipeline({
    store,
    journal: null,
    now,
    monotonic: now,
    onSpans: (batch, n) => knowledge.seeSpans(batch, n),
    onTraces: (traces, n) => knowledge.seeTraces(traces, n),
    onTrouble: (why) => {
      if (why !== null) throw new Error(why.message);
    },
  });
  const world = new ServicesWorld({ simulated, knowledge, pipeline });
  const mitigator = new Mitigator({ simulated, knowledge, world, mode, since: null });
  const run = async (seconds: number): Promise<void> => {
    for (let step = 0; step < 4 * seconds; step++) {
      at += 250;
      await mitigator.advance(now());
      if (step % 4 === 3) await pipeline.turn();
    }
  };
  /** Agents with an untrained policy, which asks for a middle headroom of everything. */
  const begin = async () => {
    const kernels = referenceKernels();
    const options = {
      folder: null,
      simulated,
      world,
      kernels,
      policy: undefined,
      mode: modeFor(mode),
      seed: 1,
      training,
    };
    const { plane } = unwrap(await openServicesPlane(options));
    mitigator.use(plane);
    return plane;
  };
  const stress = () =>
    unwrap(simulated.inject({ kind: "cpu", target: { on: "instance", name: "user-0" }, intensity: 1, seconds: 120 }));
  const brokenIn = (requests: ReturnType<SimulatedApplication["requests"]>) =>
    requests.filter(({ p99, slo }) => p99 !== null && p99 > slo).map(({ request }) => request);
  const limits = () => new Map(simulated.instances().map(({ instance, limits: own }) => [instance, own]));
  return { simulated, mitigator, knowledge, run, begin, stress, brokenIn, limits, now: () => at };
}

const USER = "hotel-reservation-user-agent";
/** Seconds until the fallback has been measured for as long as a gate asks, whoever opens it. */
const MEASURED = 155;

test("until there is a policy Kubernetes autoscaling is in charge, and it is said why", async () => {
  const { mitigator, run } = stage("act");
  await run(2);
  expect(mitigator.document()).toMatchObject({ mode: "act", remedies: [] });
  expect(mitigator.document().waitsFor).toContain("still being trained");
  mitigator.giveUp("it broke");
  expect(mitigator.document().waitsFor).toBe("the policy could not be trained: it broke");
});

test("each service has an agent that begins with its fallback, and what they do is told as updates", async () => {
  const { mitigator, run, begin } = stage("act");
  await run(2);
  const plane = await begin();
  await run(5);
  expect(plane.workloads.map(({ target }) => target.id)).toEqual(
    hotelReservation.services.map(({ name }) => serviceId("hotel-reservation", name)),
  );
  expect(mitigator.document().waitsFor).toBeNull();
  const updates = mitigator.takeUpdates();
  const agents = updates.flatMap((update) => (update.kind === "agent" ? [update.agent] : []));
  expect(new Set(agents.map(({ id }) => id)).size).toBe(15);
  expect(agents.find(({ id }) => id === USER)).toMatchObject({ stage: "OFFLINE", acting: "fallback", mode: "act" });
  expect(updates.some(({ kind }) => kind === "samples")).toBe(true);
  // What the fallback does is told as what a learner does.
  const decisions = updates.flatMap((update) => (update.kind === "decision" ? [update.decision] : []));
  expect(new Set(decisions.map(({ workload }) => workload)).size).toBe(15);
  expect(decisions[0]).toMatchObject({ who: "fallback", stage: "OFFLINE", have: { replicas: 1 } });
});

test("the culprit of an anomaly gets more of what it lacks from its agent, and requests keep their SLO while the twin's do not", async () => {
  const { simulated, mitigator, knowledge, run, begin, stress, brokenIn } = stage("act");
  const plane = await begin();
  await run(MEASURED);
  unwrap(await plane.command({ kind: "promote", agent: USER }, null));
  const { anomaly } = stress();
  await run(4);
  // The page shows whom the agents act on.
  expect(knowledge.suspects.list[0]).toMatchObject({ instance: "user-0", isCulprit: true });
  expect(unwrap(knowledge.triage.reading("user")).standing.kind).toBe("blamed");
  await run(21);
  expect(plane.workloads.find(({ agent }) => agent.id === USER)?.agent.acting).toBe("learner");
  const remedy = mitigator.document().remedies.find(({ service }) => service === "user");
  expect(remedy).toMatchObject({ by: "learner", isDone: true, instance: "user-0" });
  expect(remedy?.from).toBeGreaterThan(anomaly.from);
  const cpu = remedy?.changes.find(({ what }) => what === "cpu");
  expect(cpu?.to).toBeGreaterThan(cpu?.from ?? 0);
  expect(brokenIn(simulated.requests())).toEqual([]);
  expect(brokenIn(simulated.twinRequests())).toContain("login");
});

test("told to observe, agents change nothing and it is said what they would do; told to act, they do", async () => {
  const { mitigator, run, begin, stress, limits, now } = stage("act");
  const plane = await begin();
  await run(MEASURED);
  unwrap(await plane.command({ kind: "promote", agent: USER }, null));
  unwrap(await mitigator.setMode("observe", now()));
  expect(plane.workloads.map(({ agent }) => agent.mode)).toEqual(plane.workloads.map(() => "recommend"));
  const deployed = limits();
  stress();
  await run(8);
  expect(limits()).toEqual(deployed);
  expect(mitigator.document().remedies.find(({ service }) => service === "user")?.isDone).toBe(false);
  const since = now();
  unwrap(await mitigator.setMode("act", since));
  await run(4);
  expect(limits().get("user-0")?.cpu).toBeGreaterThan(deployed.get("user-0")?.cpu ?? 0);
  expect(mitigator.document()).toMatchObject({ mode: "act", since });
});
