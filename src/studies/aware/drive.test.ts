import { expect, test } from "vitest";
import type { Action } from "../../act/index.ts";
import { milliseconds, perSecond } from "../../base/index.ts";
import { drawScene, type Scene, taskOf } from "../../pretraining/index.ts";
import type { ClusterWorld, WorkloadTruth } from "../../sim/index.ts";
import { type Driver, driveEpisode, isViolated, truePreservation } from "./drive.ts";

const drawn = drawScene({ seed: 1_001, slot: 0 });
const scene: Scene = { ...drawn, slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) } };
const task = taskOf(scene, { alpha: 0.5, episodeSteps: 2 });

const calm: WorkloadTruth = {
  from: milliseconds(0),
  to: milliseconds(15_000),
  arrived: 150,
  completed: 150,
  timedOut: 0,
  dropped: 0,
  lost: 0,
  inFlight: 0,
  latency: milliseconds(50),
  withinSlo: 1,
  cpuUsed: 5,
  cpuLimit: 10,
  memoryUsed: 3,
  memoryLimit: 4,
  oomKills: 0,
  podsStarted: 0,
  podsStopped: 0,
  cost: 0.01,
};
const late: WorkloadTruth = { ...calm, latency: milliseconds(200), withinSlo: 0.9, oomKills: 1 };

/** Plays the given truths, one per step, and notes what was done to it. */
function fakeWorld(truths: readonly WorkloadTruth[]) {
  const applied: Action[] = [];
  let now = 0;
  const world = {
    get now() {
      return milliseconds(now);
    },
    workloads: [scene.workload],
    advance: (until: number) => {
      now = until;
    },
    read: () => ({ at: milliseconds(now) }),
    allocation: () => scene.initial,
    apply: (action: Action) => applied.push(action),
    nodes: () => [],
    truth: () => truths[applied.length - 1],
    update: () => undefined,
  } as unknown as ClusterWorld;
  return { world, applied };
}

const holding: Driver = { stage: "ONLINE", decide: () => ({ kind: "hold", workload: scene.workload }) };

test("an episode is scored by hand: one calm step and one that is twice too late", () => {
  const { world, applied } = fakeWorld([calm, late]);
  const truth = driveEpisode({ scene, world, driver: holding, task });
  // α·SP·2 + (1 − α)·(cpu + memory): 0.5·1·2 + 0.5·1.25 = 1.625, then with SP = 100/200: 0.5·0.5·2 + 0.625 = 1.125.
  expect(truth.reward).toBeCloseTo(1.625 + 1.125, 9);
  expect(truth).toMatchObject({ violations: 1, steps: 2, cpuUsed: 10, cpuLimit: 20, oomKills: 1, stage: "ONLINE" });
  expect(truth.cost).toBeCloseTo(0.02, 12);
  expect(applied).toHaveLength(2);
  expect(world.now).toBe(30_000);
});

test("a latency SLO is broken when more requests missed it than its percentile forgives", () => {
  expect(isViolated(scene.slo, { ...calm, withinSlo: 0.99 })).toBe(false);
  expect(isViolated(scene.slo, { ...calm, withinSlo: 0.98 })).toBe(true);
  expect(isViolated(scene.slo, { ...calm, withinSlo: null, latency: null })).toBe(false);
});

test("a throughput SLO is judged by what came out of what came in", () => {
  const slo: Scene["slo"] = { kind: "throughput", target: perSecond(8) };
  expect(isViolated(slo, calm)).toBe(false);
  expect(isViolated(slo, { ...calm, completed: 60, dropped: 90 })).toBe(true);
  expect(truePreservation(slo, { ...calm, completed: 60, dropped: 90 })).toBeCloseTo(0.5, 9);
});

test("requests that were dropped count against a latency SLO, however fast the others were", () => {
  expect(truePreservation(scene.slo, calm)).toBe(1);
  expect(truePreservation(scene.slo, { ...calm, completed: 75, dropped: 75 })).toBeLessThan(1);
});
