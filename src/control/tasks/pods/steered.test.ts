/** The task as the product's agents have it: around the capacity model's plan. */
import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import type { Ms } from "../../../base/index.ts";
import { bytes, mebibytes, millicores, milliseconds, ratio, seconds, unwrap } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import { autoscaleTask, productMode } from "./autoscale.ts";
import type { Observation } from "./observation.ts";
import { podsTask, podsTaskName, taskForModel } from "./task.ts";

const settings = unwrap(
  autoscaleTask({
    slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) },
    bounds: {
      replicas: { min: 1, max: 12 },
      cpu: { min: millicores(100), max: millicores(4_000) },
      memory: { min: mebibytes(64), max: mebibytes(2_048) },
    },
    ...productMode,
  }),
);
const task = podsTask(settings);
const start: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };

/** Requests take 40 millicore-seconds, and latency is 75 while a pod has 500 to spare. */
function reading(now: number, have: Allocation, load = 20): WorkloadReading {
  const free = have.cpu - (load * 40) / have.replicas;
  return {
    workload: "w",
    at: now - 15_000,
    spec: have,
    pods: Array.from({ length: have.replicas }, (_, i) => ({
      pod: `p-${i}`,
      createdAt: -1e6,
      readyAt: -1e6,
      cpuLimit: have.cpu,
      memoryLimit: have.memory,
      cpu: (load * 40) / have.replicas,
      memory: bytes(1e8),
      restarts: 0,
    })),
    use: { cpu: 0.3, memory: 0.5, io: 0, network: 0 },
    latency: 75 * Math.max(1, 500 / Math.max(free, 20)) * (1 + 0.02 * Math.sin(now)),
    offered: load,
    completed: load,
    failed: 0,
    ooms: [],
  } as unknown as WorkloadReading;
}

function watched(steps: number, follow = false): { seen: Observation; have: Allocation } {
  let memory = task.freshMemory;
  let have = start;
  let seen: Observation | undefined;
  for (let i = 1; i <= steps; i++) {
    const now = (15_000 * i) as Ms;
    seen = unwrap(task.encode(reading(now, have), { memory, now }));
    memory = seen.memory;
    if (follow && task.isReady?.(seen)) have = task.decode([0, 0], seen);
  }
  return { seen: seen as Observation, have };
}

test("a policy may act once the model has seen five minutes of load, and not before", () => {
  expect(task.isReady?.(watched(10).seen)).toBe(false);
  expect(task.isReady?.(watched(40).seen)).toBe(true);
  // Before that no action has a meaning, and the guard would refuse it.
  expect(task.decode([0, 0], watched(10).seen).cpu).toBeNaN();
});

test("nothing added to the plan gives less than there was, and enough for the SLO", () => {
  const { have, seen } = watched(400, true);
  expect(have.replicas).toBe(2);
  // 400 are used by each pod. With 500 to spare the latency is 75, with 375 it is 100.
  expect(have.cpu).toBeGreaterThan(775);
  expect(have.cpu).toBeLessThan(1_250);
  const expected = task.expectedNearness?.(have, seen) ?? 0;
  expect(expected).toBeGreaterThan(0.7);
  expect(expected).toBeLessThan(1);
});

test("an action is worked out back from any setting, and the plan is none", () => {
  const { seen } = watched(100);
  const plan = task.decode([0, 0], seen);
  expect([...task.encodeSetting(plan, seen)].map((value) => Math.abs(value) < 0.1)).toEqual([true, true]);
  expect(task.encodeSetting({ ...plan, cpu: millicores(4_000) }, seen)[0]).toBe(1);
});

test("what the guard would not do now is not proposed", () => {
  const now = (15_000 * 101) as Ms;
  const { seen: before } = watched(100);
  const held = {
    cpu: { min: start.cpu, max: 3_000 },
    replicas: { min: 2, max: 4 },
    memory: { min: start.memory, max: 2 * start.memory },
  };
  const seen = unwrap(task.encode(reading(now, start), { memory: before.memory, now, reach: held }));
  expect(task.decode([0, 0], seen)).toEqual(start);
  expect(task.decode([-1, -1], seen)).toEqual(start);
});

test("what is earned is the share of the rules' bill that is saved", () => {
  const { seen } = watched(100);
  const half: Allocation = { ...start, cpu: millicores(750), memory: mebibytes(100) };
  expect(task.reward(seen, { setting: half, previous: half, fallback: start })).toBeCloseTo(0.5, 6);
});

test("its model says why, and what it remembers is plain data", () => {
  const { seen } = watched(100);
  expect(task.reasons?.(seen)).toEqual([{ by: "capacity", rule: "need" }]);
  const again = JSON.parse(JSON.stringify(seen.memory)) as unknown;
  const now = seconds(15 * 101);
  const next = (memory: unknown) => unwrap(task.encode(reading(now, start), { memory, now }));
  expect(next(again).values).toEqual(next(seen.memory).values);
  expect(task.decode([0, 0], next(again))).toEqual(task.decode([0, 0], next(seen.memory)));
});

test("a residual without the model's features is refused, and so is an SLO that is never missed", () => {
  const refusal = (changed: object) => autoscaleTask({ ...settings, ...changed });
  expect(refusal({ features: "extended" })).toMatchObject({ ok: false });
  expect(refusal({ attainment: ratio(1) })).toMatchObject({ ok: false });
});

test("a task for the paper's reward has limits as actions where its model was trained for them, and no other has", () => {
  const inLimits = podsTaskName({ features: "extended", actions: "limits" });
  const { slo, bounds } = settings;
  const paper = unwrap(autoscaleTask({ slo, bounds }));
  expect(taskForModel(paper, inLimits).actions).toBe("limits");
  expect(taskForModel(paper, podsTaskName(paper))).toBe(paper);
  expect(taskForModel(paper, undefined)).toBe(paper);
  expect(taskForModel(settings, inLimits)).toBe(settings);
});
