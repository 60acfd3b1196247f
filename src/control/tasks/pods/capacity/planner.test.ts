import { expect, test } from "vitest";
import type { Allocation } from "../../../../act/index.ts";
import type { Ms } from "../../../../base/index.ts";
import { bytes, mebibytes, millicores, milliseconds } from "../../../../base/index.ts";
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { CapacityMemory } from "./planner.ts";
import { capacityPlanner } from "./planner.ts";
import type { PriorModel } from "./prior.ts";

const slo: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};
const planner = capacityPlanner({ slo, bounds });

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

/** As if there were no guard: what is planned is there in the next step. */
function life({ steps, load = () => 20, throughJson = false }: Life) {
  let memory: CapacityMemory = planner.fresh;
  let have: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };
  const wants: Allocation[] = [];
  const plans: unknown[] = [];
  for (let i = 0; i < steps; i++) {
    const now = 15_000 * (i + 1);
    const step = planner.step(memory, reading(now, { have, load: load(i) }), now as Ms);
    memory = throughJson ? (JSON.parse(JSON.stringify(step.memory)) as CapacityMemory) : step.memory;
    have = step.plan?.setting ?? have;
    wants.push(have);
    plans.push(step.plan);
  }
  return { memory, have, wants, plans };
}

test("there is no plan until enough was seen", () => {
  const { plans } = life({ steps: 60 });
  expect(plans[10]).toBeNull();
  expect(plans[59]).toMatchObject({ rule: "need" });
});

test("what is expected of the plan is what comes, and less CPU is more strain and more risk", () => {
  const { memory, have, plans } = life({ steps: 400 });
  const { strain, risk } = plans.at(-1) as { strain: number; risk: number };
  // A latency of 75 to 80 where 100 are allowed: its logarithm is −0.29 to −0.22.
  expect(strain).toBeGreaterThan(-0.32);
  expect(strain).toBeLessThan(-0.15);
  expect(risk).toBeLessThan(0.05);
  const less = planner.outlook(memory, { replicas: 2, cpu: millicores(have.cpu / 2), load: 20 });
  expect(less.strain).toBeGreaterThan(strain);
  expect(less.risk).toBeGreaterThan(risk);
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
  const { have, plans } = life({ steps: 2_000, load: (i) => (i < 1_000 ? 20 : 0) });
  expect(plans.at(-1)).toMatchObject({ rule: "idle", load: 0 });
  expect(have.cpu).toBeLessThan(400);
});

test("the same readings give the same wishes, to the byte, also through JSON", () => {
  const load = (i: number) => 10 + (i % 13);
  const one = life({ steps: 300, load });
  expect(JSON.stringify(life({ steps: 300, load }))).toBe(JSON.stringify(one));
  expect(life({ steps: 300, load, throughJson: true })).toEqual(one);
  expect(JSON.stringify(one.memory).length).toBeLessThan(35_000);
});

test("readings without values, the same reading twice and a clock that goes back are borne", () => {
  const { memory, have } = life({ steps: 200 });
  const now = 15_000 * 201;
  const seen = reading(now, { have, load: 20 });
  const blind = { ...seen, latency: null, offered: null, completed: null, failed: null, pods: [] };
  const twice = planner.step(memory, seen, now as Ms);
  const again = planner.step(twice.memory, seen, (now + 1) as Ms);
  expect(again.memory.belief).toBe(twice.memory.belief);
  for (const { plan } of [
    planner.step(memory, blind, now as Ms),
    planner.step(memory, reading(60_000, { have, load: 20 }), 60_000 as Ms),
  ]) {
    const setting = plan?.setting as Allocation;
    expect(Object.values(setting).every((value) => Number.isFinite(value) && value > 0)).toBe(true);
    expect(setting.cpu).toBeGreaterThan(600);
  }
});

test("with a prior the first plan is nearer to what workloads like it needed, and without one nothing is different", () => {
  const known = (size: number, free: number) => ({
    spread: [1, 1, 1, 1, 1],
    width: null,
    known: [{ name: "another", looks: [0, 0, 0, 0, 0], knees: [[Math.log(size), Math.log(free), null, 1]] as const }],
  });
  const have: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };
  const firstCpu = (prior?: PriorModel): number => {
    const one = capacityPlanner({ slo, bounds, ...(prior ? { prior } : {}) });
    let memory = one.fresh;
    for (let step = 1; ; step++) {
      const now = milliseconds(15_000 * step);
      const next = one.step(memory, reading(now, { have, load: 20 }), now);
      if (next.plan) return next.plan.setting.cpu;
      memory = next.memory;
    }
  };
  const [little, much] = [firstCpu(known(150, 100)), firstCpu(known(3_000, 2_000))];
  expect(little).toBeLessThan(firstCpu());
  expect(much).toBeGreaterThan(little);
});

/** Clients are refused: three of four requests fail after a second, and those that ask again use all the CPU there is. */
const failing = (now: number, have: Allocation, share = 1): WorkloadReading => {
  const { pods, ...plain } = reading(now, { have, load: 20 });
  const used = pods.map((pod) => ({ ...pod, cpu: millicores(share * have.cpu) }));
  return { ...plain, pods: used, latency: 1_000, offered: 20, completed: 5, failed: 15 } as unknown as WorkloadReading;
};

test("where the first requests fail it grows without a model, holds what cured it, and learns", () => {
  let memory: CapacityMemory = planner.fresh;
  let have: Allocation = { replicas: 2, cpu: millicores(400), memory: mebibytes(200) };
  const sizes: number[] = [];
  let failingAt: boolean | undefined;
  const step = (i: number, make: (now: number) => WorkloadReading) => {
    const now = 15_000 * (i + 1);
    const next = planner.step(memory, make(now), now as Ms);
    memory = next.memory;
    failingAt ??= i === 21 ? planner.isUncured(memory) : undefined;
    have = next.plan?.setting ?? have;
    sizes.push(have.replicas * have.cpu);
    return next.plan;
  };
  for (let i = 0; i < 22; i++) step(i, (now) => failing(now, have));
  expect(memory.belief.steps).toBe(0);
  // Five minutes and more of misses: whoever acts has not cured it.
  expect(failingAt).toBe(true);
  // Half as much again: 2 pods of 600, and after a minute, once no smaller pod was part of it, 2 of 900.
  expect(sizes[0]).toBe(1_200);
  expect(sizes).toContain(1_800);
  expect(sizes.at(-1)).toBeGreaterThan(1_800);
  const cured = have.replicas * have.cpu;
  const held = step(22, (now) => reading(now, { have, load: 20 }));
  expect(held).toMatchObject({ rule: "held" });
  for (let i = 23; i < 48; i++) step(i, (now) => reading(now, { have, load: 20 }));
  // Six minutes later it is all there, and the model learns.
  expect(have.replicas * have.cpu).toBeGreaterThanOrEqual(0.96 * cured);
  expect(memory.belief.steps).toBeGreaterThan(10);
  for (let i = 48; i < 400; i++) step(i, (now) => reading(now, { have, load: 20 }));
  // Then it is given back, down to what the model plans.
  expect(have.replicas * have.cpu).toBeLessThan(0.9 * cured);
  expect(memory.cure).toBeNull();
});

test("what twenty minutes of more did not cure is not given any longer", () => {
  let memory: CapacityMemory = planner.fresh;
  let have: Allocation = { replicas: 2, cpu: millicores(400), memory: mebibytes(200) };
  const plans: boolean[] = [];
  for (let i = 0; i < 100; i++) {
    const now = 15_000 * (i + 1);
    const next = planner.step(memory, failing(now, have), now as Ms);
    memory = next.memory;
    plans.push(next.plan !== null);
    have = next.plan?.setting ?? have;
  }
  // Steps 0 to 80 are twenty minutes. Nobody grows beyond the bounds: 12 pods of 4,000.
  expect([plans[0], plans[80], plans[82], plans[99]]).toEqual([true, true, false, false]);
  expect(have).toMatchObject({ replicas: 12, cpu: 4_000 });
});

test("a moment's failures where hardly any CPU is used are no reason for more", () => {
  const { memory, have } = life({ steps: 400 });
  const now = 15_000 * 401;
  const idle = planner.step(memory, failing(now, have, 0.1), now as Ms);
  expect(idle.memory.overload).not.toBeNull();
  expect(idle.memory.cure).toBeNull();
  const busy = planner.step(memory, failing(now, have, 0.9), now as Ms);
  expect(busy.memory.cure).toMatchObject({ cores: have.replicas * have.cpu });
});
