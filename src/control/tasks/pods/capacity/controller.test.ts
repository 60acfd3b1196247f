import { expect, test } from "vitest";
import type { Allocation } from "../../../../act/index.ts";
import type { Ms } from "../../../../base/index.ts";
import { bytes, mebibytes, millicores, milliseconds } from "../../../../base/index.ts";
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Fallback } from "../../../index.ts";
import type { CapacityState } from "./controller.ts";
import { capacityController } from "./controller.ts";

const slo: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};
const ruled: Allocation = { replicas: 3, cpu: millicores(1_500), memory: mebibytes(200) };
const rules: Fallback<number, WorkloadReading, Allocation> = {
  name: "three pods",
  start: () => 0,
  step: (steps) => ({ want: ruled, reasons: ["as always"], state: steps + 1 }),
};
const controller = capacityController({ slo, bounds, rules });

interface Seen {
  readonly have: Allocation;
  readonly load: number;
}
/** A workload whose requests take 40 millicore-seconds, and whose latency is 75 while a pod has 500 to spare. */
function reading(now: number, { have, load }: Seen): WorkloadReading {
  const free = have.cpu - (load * 40) / have.replicas;
  const latency = load === 0 ? null : 75 * Math.max(1, 500 / Math.max(free, 20)) * (1 + 0.02 * Math.sin(now));
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
    use: { cpu: null, memory: null, io: null, network: null },
    latency,
    offered: load,
    completed: load,
    failed: 0,
    ooms: [],
  } as unknown as WorkloadReading;
}

interface Life {
  readonly steps: number;
  readonly load?: (step: number) => number;
  readonly throughJson?: boolean;
}

/** As if there were no guard: what it wants is there in the next step. */
function life({ steps, load = () => 20, throughJson = false }: Life) {
  let state: CapacityState<number> = controller.start();
  let have: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };
  const wants: Allocation[] = [];
  const reasons: unknown[] = [];
  for (let i = 0; i < steps; i++) {
    const now = 15_000 * (i + 1);
    const step = controller.step(state, reading(now, { have, load: load(i) }), now as Ms);
    state = throughJson ? (JSON.parse(JSON.stringify(step.state)) as CapacityState<number>) : step.state;
    have = { ...have, ...step.want };
    wants.push(have);
    reasons.push(step.reasons[0]);
  }
  return { state, have, wants, reasons };
}

test("the rules act until enough was seen", () => {
  const { wants, reasons } = life({ steps: 60 });
  expect(wants[10]).toEqual(ruled);
  expect(reasons[10]).toBe("as always");
  expect(reasons[59]).toMatchObject({ by: "capacity" });
});

test("a steady workload comes to the least that keeps its SLO, in two pods", () => {
  const { have } = life({ steps: 1_000 });
  expect(have.replicas).toBe(2);
  // 400 are used by each of two pods. With 500 to spare the latency is 75, with 375 it is 100.
  expect(have.cpu).toBeGreaterThan(775);
  expect(have.cpu).toBeLessThan(1_000);
});

test("memory is no less than there was until a day was seen, then 1.4 times the most that was used", () => {
  expect(life({ steps: 100 }).have.memory).toBe(mebibytes(200));
  // 1e8 bytes are 95.4 MiB: 1.4 times that is 133.5.
  expect(life({ steps: 5_800 }).have.memory).toBe(mebibytes(134));
});

test("twice the load is served in the step in which it is seen", () => {
  const { wants } = life({ steps: 400, load: (i) => (i < 398 ? 20 : 40) });
  // Each of two pods uses 800, and 375 more are the least that keeps the SLO.
  expect(wants.at(-1)).toMatchObject({ replicas: 2 });
  expect((wants.at(-1) as Allocation).cpu).toBeGreaterThan(800 + 500);
  expect((wants.at(-1) as Allocation).cpu).toBeGreaterThan((wants.at(-3) as Allocation).cpu + 200);
});

test("in silence that is expected pods are small", () => {
  const { have, reasons } = life({ steps: 2_000, load: (i) => (i < 1_000 ? 20 : 0) });
  expect(reasons.at(-1)).toMatchObject({ rule: "idle", load: 0 });
  expect(have.cpu).toBeLessThan(400);
});

test("the same readings give the same wishes, to the byte, also through JSON", () => {
  const load = (i: number) => 10 + (i % 13);
  const one = life({ steps: 300, load });
  expect(JSON.stringify(life({ steps: 300, load }))).toBe(JSON.stringify(one));
  expect(life({ steps: 300, load, throughJson: true })).toEqual(one);
  expect(JSON.stringify(one.state).length).toBeLessThan(25_000);
});

test("readings without values, the same reading twice and a clock that goes back are borne", () => {
  const { state, have } = life({ steps: 200 });
  const now = 15_000 * 201;
  const seen = reading(now, { have, load: 20 });
  const blind = { ...seen, latency: null, offered: null, completed: null, failed: null, pods: [] };
  const twice = controller.step(state, seen, now as Ms);
  const again = controller.step(twice.state, seen, (now + 1) as Ms);
  expect(again.state.memory.belief).toBe(twice.state.memory.belief);
  for (const one of [
    controller.step(state, blind, now as Ms),
    controller.step(state, reading(60_000, { have, load: 20 }), 60_000 as Ms),
  ]) {
    expect(Object.values(one.want).every((value) => Number.isFinite(value) && value > 0)).toBe(true);
    expect(one.want.cpu).toBeGreaterThan(600);
  }
});
