import { expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { memoryStore } from "../../src/adapters/store/index.ts";
import type { ManualClock } from "../../src/base/index.ts";
import { milliseconds, ok, parseAgentId, parseWorkloadId, unwrap } from "../../src/base/index.ts";
import type { ModeName, PlaneUpdate, SeriesDocument } from "../../src/contract/index.ts";
import type { SavedPlane } from "../../src/contract/schemas/index.ts";
import { agentTrainingKinds, parseLifecycleProfile } from "../../src/control/lifecycle/index.ts";
import type { Trainer } from "../../src/control/loop/index.ts";
import { Bcq, bcqDefaults } from "../../src/learn/rl/index.ts";
import { splitNotes } from "../../src/plane/agent-notes.ts";
import type { LearnerWish } from "../../src/plane/index.ts";
import { emptyHistory, memoryStates, Plane, taskTarget } from "../../src/plane/index.ts";
import { createReadModel } from "../../src/server/read-model/read-model.ts";
import { drainLimits, drainTask, drainView, proportionalRate, STEP } from "../fixtures/drain-task/drain-task.ts";
import type { QueueWorld } from "../fixtures/drain-task/queue-world.ts";
import { queueWorld } from "../fixtures/drain-task/queue-world.ts";

const kernels = loadKernels({ prefer: "wasm" });
const start = milliseconds(Date.UTC(2026, 0, 5, 6));
const slo = { kind: "latency", quantile: 0.99, target: milliseconds(2_000) } as const;
const agent = unwrap(parseAgentId("queue-agent"));
const { tasks } = agentTrainingKinds();
const inPlace: Trainer = {
  slots: 1,
  train: async ({ kind, config }) =>
    ok(await tasks[kind]?.(config, { kernels, isCancelled: () => false, progress: () => undefined })),
};

const options = {
  id: unwrap(parseWorkloadId("queue")),
  agent,
  title: "Queue",
  fallback: "the proportional rule",
  slo,
  mode: "act" as const,
  view: drainView,
  have: null,
  twinHave: null,
  profile: (mode: ModeName) =>
    unwrap(
      parseLifecycleProfile({
        mode,
        window: 2,
        maxReward: 20,
        online: { kind: "fallback", times: 0.5, plus: 0 },
        serving: { kind: "fallback", times: 0.5, plus: 0 },
      }),
    ),
  task: drainTask,
  limits: drainLimits,
  rules: proportionalRate,
  createLearner: ({ attempt }: LearnerWish) =>
    new Bcq({
      kernels,
      shape: { obs: 2, action: { kind: "continuous", low: [-1], high: [1] }, actorContext: 0, criticContext: 0 },
      config: { ...bcqDefaults, noise: { kind: "none" }, bufferSize: 1_000 },
      seed: 1 + attempt,
    }),
  seed: 1,
  training: { trainEvery: 4, updates: 4, replaySize: () => 1_000 },
};

async function open({ world }: QueueWorld, saved: SavedPlane | null = null, target = taskTarget(options)) {
  const kept: { saved: SavedPlane | null } = { saved: null };
  const plane = new Plane({
    seed: 1,
    world,
    targets: [target],
    controlStep: STEP,
    saved,
    saves: {
      write: (document) => {
        kept.saved = document;
        return ok(undefined);
      },
    },
    history: emptyHistory,
    speed: 1,
    store: memoryStore(),
    twinStore: memoryStore(),
    mostRecords: 1_000,
    states: memoryStates(),
    twinStates: memoryStates(),
    trainer: inPlace,
    isLockstep: true,
    idle: async () => undefined,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  });
  return { plane, kept };
}

async function advance(plane: Plane, steps: number): Promise<readonly PlaneUpdate[]> {
  const until = plane.steps + steps;
  while (plane.steps < until) await plane.advance();
  return plane.takeUpdates();
}

const of = <K extends PlaneUpdate["kind"]>(updates: readonly PlaneUpdate[], kind: K) =>
  updates.filter((update): update is Extract<PlaneUpdate, { kind: K }> => update.kind === kind);

test("a task of its own runs in a world without truth and twin, measured by its readings and shown by its knobs", async () => {
  const queue = queueWorld(start, 20);
  const { plane, kept } = await open(queue);
  unwrap(await plane.begin());
  const updates = await advance(plane, 6);
  const rows = of(updates, "samples").flatMap(({ samples }) => samples);
  // 10 messages come a second: the rule wants a fifth more, and the guard lets the rate fall by half at most.
  expect(rows.at(-1)).toMatchObject({
    workload: "queue",
    sample: { load: 10, latency: 0, preservation: 1, have: { rate: 12 }, use: { rate: 10 }, cost: 0 },
    twin: null,
    twinAccount: null,
  });
  expect(rows.at(-1)?.account).toMatchObject({ steps: 7, violations: 0, sums: { drained: expect.any(Number) } });
  // Shown as the page and the API show every workload.
  const model = createReadModel();
  model.apply(updates);
  expect(model.workload("queue")).toMatchObject({ knobs: [{ name: "rate", title: "Rate", unit: "messages/s" }] });
  const series = JSON.parse(model.tellSeries("queue", { from: null, to: null, points: 3 }) ?? "") as SeriesDocument;
  expect([series.columns.rate?.at(-1), series.columns.rateUse?.at(-1), model.refused]).toEqual([12, 10, 0]);
  const decisions = of(updates, "decision").map(({ decision }) => decision);
  expect(decisions[0]).toMatchObject({ who: "fallback", stage: "OFFLINE", have: { rate: expect.any(Number) } });
  expect(kept.saved?.workloads.queue).toMatchObject({ twinHave: null, twinAccount: null });
  unwrap(await plane.close());
  expect(kept.saved?.workloads.queue?.have).toEqual({ rate: 12 });
});

test("its agent lives the life of every agent: it learns from its fallback, is promoted, crashes, and the fallback acts", async () => {
  const queue = queueWorld(start, 20);
  const { plane } = await open(queue);
  unwrap(await plane.begin());
  await advance(plane, 40);
  unwrap(await plane.command({ kind: "promote", agent }, null));
  const online = of(await advance(plane, 2), "decision").map(({ decision }) => decision);
  expect(online.at(-1)).toMatchObject({ who: "learner", stage: "ONLINE", proposed: { rate: expect.any(Number) } });
  unwrap(await plane.command({ kind: "inject", workload: "queue", fault: "learner-crash" }, null));
  const crashed = of(await advance(plane, 1), "decision").map(({ decision }) => decision);
  expect(crashed[0]).toMatchObject({ who: "fallback", stage: "ONLINE" });
  expect(await plane.command({ kind: "inject", workload: "queue", fault: "node-lost" }, null)).toMatchObject({
    ok: false,
    failure: { code: "plane.no-faults" },
  });
  unwrap(await plane.close());
});

test("what its model expects is shown with the decision and with the step that it is of, beside the fallback alone", async () => {
  const knowing = taskTarget({
    ...options,
    attainment: 0.95,
    // A second of waiting for every twenty messages that are taken out in one.
    task: (asked) => ({ ...drainTask(asked), expectedNearness: ({ rate }) => rate / 40 }),
  });
  const queue = queueWorld(start, 20);
  const { plane, kept } = await open(queue, null, knowing);
  unwrap(await plane.begin());
  queue.arrivals = 11;
  const updates = await advance(plane, 6);
  const decisions = of(updates, "decision").map(({ decision }) => decision);
  const rows = of(updates, "samples").flatMap(({ samples }) => samples);
  // Rate 12 of 40 is 0.3 of 2,000 ms.
  expect(decisions[0]).toMatchObject({ executed: { rate: 12 }, fallback: { rate: 12 }, expected: 600 });
  expect(new Set(decisions.map(({ expected }) => expected)).size).toBeGreaterThan(1);
  // A decision is of the step after it, and before the first nobody expected anything.
  expect(rows.map(({ sample }) => sample.expected)).toEqual([
    null,
    ...decisions.slice(0, rows.length - 1).map(({ expected }) => expected),
  ]);
  expect(rows.at(-1)?.budget).toEqual({
    attainment: 0.95,
    windowMs: 604_800_000,
    steps: 7,
    missed: 0,
    left: 1,
    burn: { short: 0, long: 0 },
  });
  unwrap(await plane.close());
  expect(kept.saved?.workloads.queue?.budget).toMatchObject({ steps: [7], missed: [0] });
});

test("how much of what is done is the learner's own is counted, and is still known after a restart", async () => {
  const { plane } = await open(queueWorld(start, 20));
  unwrap(await plane.begin());
  await advance(plane, 40);
  unwrap(await plane.command({ kind: "promote", agent }, null));
  const updates = await advance(plane, 24);
  const by = of(updates, "decision").flatMap(({ decision }) => (decision.who === "learner" ? [decision] : []));
  const own = by.filter(({ proposed, executed }) => proposed?.rate === executed?.rate).length;
  const less = by.filter(({ executed, fallback }) => (executed?.rate ?? 0) < (fallback?.rate ?? 0)).length;
  expect(by.length).toBeGreaterThan(0);
  const [workload] = plane.workloads;
  const counts = { decisions: by.length, asProposed: own, less };
  expect(workload?.agent.document().steering).toEqual({ ...counts, total: counts });
  expect(unwrap(splitNotes(workload?.agent.save() ?? new Uint8Array())).notes.steering.total).toEqual(counts);
  unwrap(await plane.close());
});

test("its trouble is told in its own words, and what a person set is in force after a restart", async () => {
  const queue = queueWorld(start, 20);
  const { plane, kept } = await open(queue);
  unwrap(await plane.begin());
  unwrap(await plane.command({ kind: "pause", agent }, null));
  queue.arrivals = 1_000;
  const events = of(await advance(plane, 12), "event").map(({ event }) => event.text);
  expect(events).toContainEqual(
    expect.stringMatching(
      /^Queue: Misses its SLO since .*: the rate of \d+ a second is too low; the proportional rule gave \d+ instead of \d+ messages a second\.$/,
    ),
  );
  unwrap(await plane.close());
  const again = await open(queueWorld(milliseconds((kept.saved?.at ?? 0) + 1), 20), kept.saved);
  unwrap(await again.plane.begin());
  const [shown] = of(again.plane.takeUpdates(), "agent");
  expect(shown?.agent).toMatchObject({ isPaused: true, revision: 2 });
  unwrap(await again.plane.close());
});

test("where time passes by itself, the plane waits for it and answers commands meanwhile", async () => {
  const queue = queueWorld(start, 20, "wall");
  const clock = queue.world.clock.clock as ManualClock;
  const { plane } = await open(queue);
  const begun = plane.begin();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (let second = 0; second <= 31; second++) {
    clock.advance(milliseconds(1_000));
    await settle();
  }
  unwrap(await begun);
  const next = plane.advance();
  unwrap(await plane.command({ kind: "pause", agent }, null));
  clock.advance(milliseconds(15_000));
  await next;
  expect(plane.steps).toBe(2);
  const samples = of(plane.takeUpdates(), "samples");
  expect(samples.map(({ at }) => at - start)).toEqual([15_000, 30_000]);
  const closing = plane.close();
  for (let second = 0; second < 30; second++) {
    clock.advance(milliseconds(1_000));
    await settle();
  }
  unwrap(await closing);
});
