import { describe, expect, test } from "vitest";
import { millicores, milliseconds } from "../../base/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { bounds, drawScene, openWorld } from "../../pretraining/index.ts";
import type { ClusterWorld } from "../../sim/index.ts";
import { meanWork, processors } from "../../sim/index.ts";
import type { Driver } from "./drive.ts";
import { isViolated } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";
import { measureRules } from "./measure-rules.ts";
import type { Rules } from "./rules.ts";
import { rulesOf, startedWith } from "./rules.ts";

const STEP = 15_000;
const HOUR_STEPS = 240;
const measuring = { seed: 9_000_000, trialHours: 1 };

/** Share of steps in which the SLO was met. */
function shareMet(
  { workload, slo }: Scene,
  world: ClusterWorld,
  { steps, driver }: { steps: number; driver?: Driver },
) {
  let met = 0;
  for (let step = 0; step < steps; step++) {
    const { now } = world;
    const view = { reading: world.read(workload), have: world.allocation(workload), nodes: world.nodes(workload), now };
    if (driver) world.apply(driver.decide(view));
    world.advance(milliseconds(now + STEP));
    if (!isViolated(slo, world.truth(workload))) met += 1;
  }
  return met / steps;
}

/** Four pods of a size, a tenth of it used: the lightest load that a size is measured with. */
function atATenth(scene: Scene, cpu: number): number {
  const perRequest = meanWork(scene.application).cpu / processors[scene.processor].speed;
  const load = { ...scene.load, perMinute: Float64Array.of((4 * 0.1 * cpu) / perRequest) };
  const initial = { replicas: 4, cpu: millicores(cpu), memory: bounds.memory.max };
  const world = openWorld({ ...scene, load }, { seed: measuring.seed, rung: "event", initial });
  // Two minutes to start the pods and to settle.
  world.advance(milliseconds(8 * STEP));
  world.truth(scene.workload);
  return shareMet(scene, world, { steps: 32 });
}

/** Pods that were killed in an hour under the rules, in a world that they were not measured in. */
function killsUnder(plain: Scene, rules: Rules): number {
  const scene = startedWith(plain, rules);
  const { workload } = scene;
  const world = openWorld(scene, { seed: 78, rung: "event" });
  const driver = rulesDriver(scene, rulesOf(scene, rules));
  let kills = 0;
  for (let step = 0; step < HOUR_STEPS; step++) {
    const { now } = world;
    const view = { reading: world.read(workload), have: world.allocation(workload), nodes: world.nodes(workload), now };
    world.apply(driver.decide(view));
    world.advance(milliseconds(now + STEP));
    kills += world.truth(workload).oomKills;
  }
  return kills;
}

describe("settings that were measured", () => {
  // Not in every world: pods differ in speed, and these settings were tried in two.
  test.each([
    { kind: "throughput", slot: 3, seed: 1_000 },
    { kind: "latency", slot: 1, seed: 1_001 },
  ])("meet a $kind SLO in closed loop, in a world that they were not measured in", ({ kind, ...choice }) => {
    const scene = drawScene(choice);
    expect(scene.slo.kind).toBe(kind);
    const world = openWorld(scene, { seed: 78, rung: "event" });
    const driver = rulesDriver(scene, rulesOf(scene, measureRules(scene, measuring)));
    expect(shareMet(scene, world, { steps: HOUR_STEPS, driver })).toBeGreaterThanOrEqual(0.97);
  });

  test("have a size that holds at a light load, where the smallest does not", () => {
    const scene = drawScene({ seed: 1_002, slot: 1 });
    const { leastCpu } = measureRules(scene, measuring);
    expect(leastCpu).toBeGreaterThan(bounds.cpu.min);
    expect(atATenth(scene, bounds.cpu.min)).toBeLessThan(0.97);
    expect(atATenth(scene, leastCpu)).toBeGreaterThanOrEqual(0.97);
  });

  test("have a memory floor that keeps pods from being killed, where the VPA alone does not", () => {
    const scene = drawScene({ seed: 1_002, slot: 1 });
    const rules = measureRules(scene, measuring);
    expect(killsUnder(scene, { ...rules, leastMemory: bounds.memory.min })).toBeGreaterThan(0);
    expect(killsUnder(scene, rules)).toBe(0);
  });

  test("keep two pods at least, and one where little is at stake", () => {
    const scene = drawScene({ seed: 1_001, slot: 1 });
    expect(measureRules(scene, measuring).leastReplicas).toBe(2);
    expect(measureRules(scene, { ...measuring, stakes: "low" }).leastReplicas).toBe(1);
  });

  test("are the same when they are measured again, and lower where the load that moves bears less than a constant one", () => {
    const scene = drawScene({ seed: 1_000, slot: 0 });
    const rules = measureRules(scene, measuring);
    expect(measureRules(scene, measuring)).toEqual(rules);
    // Constant loads are measured in tens of percent; this one failed in closed loop and gave way to three quarters of it.
    expect(rules.targetPercent % 10).not.toBe(0);
  });
});

test("where nothing keeps the SLO, the largest pods with the most slack are taken, without a trial", () => {
  const drawn = drawScene({ seed: 1_002, slot: 1 });
  const hopeless: Scene = { ...drawn, slo: { kind: "latency", quantile: 0.99, target: milliseconds(0.001) } };
  expect(measureRules(hopeless, measuring)).toEqual({
    leastCpu: bounds.cpu.max,
    targetPercent: 10,
    leastReplicas: 2,
    leastMemory: bounds.memory.max,
  });
});
