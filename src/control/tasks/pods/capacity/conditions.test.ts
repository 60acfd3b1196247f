import { expect, test } from "vitest";
import type { Ms } from "../../../../base/index.ts";
import { milliseconds } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { ConditionsMemory } from "./conditions.ts";
import { conditionsAfter, conditionsAt, loadOf, noConditions, workPerRequest } from "./conditions.ts";

interface Seen {
  readonly size?: number;
  readonly pods?: number;
  readonly load?: number;
  readonly failed?: number;
  readonly readyAt?: number;
}
const reading = (
  now: number,
  { size = 1_000, pods = 2, load = 10, failed = 0, readyAt = -1e6 }: Seen,
): WorkloadReading =>
  ({
    at: now - 15_000,
    spec: { replicas: pods, cpu: size, memory: 1e8 },
    pods: Array.from({ length: pods }, (_, i) => ({
      pod: `p-${i}`,
      createdAt: readyAt,
      readyAt,
      cpuLimit: size,
      memoryLimit: 1e8,
      // 30 millicore-seconds per request.
      cpu: (30 * load) / pods,
      memory: 5e7 + i,
      restarts: 0,
    })),
    use: { cpu: null, memory: null, io: null, network: null },
    latency: 50,
    offered: load + failed,
    completed: load,
    failed,
    ooms: [],
  }) as unknown as WorkloadReading;

/** Steps of 15 s from 0 on. */
const after = (steps: readonly Seen[]): ConditionsMemory =>
  steps.reduce<ConditionsMemory>(
    (memory, step, i) => conditionsAfter(memory, reading(15_000 * i, step), (15_000 * i) as Ms),
    noConditions,
  );
const times = (count: number, step: Seen): Seen[] => Array.from({ length: count }, () => step);

test("CPU per request is what was used over what was answered", () => {
  expect(workPerRequest(after(times(10, {})))).toBeCloseTo(30, 10);
});

test("of a steady minute there is one size, what requests leave of it, and a rate per pod", () => {
  const memory = after(times(10, {}));
  // 10 a second of 30 each on two pods: 150 of 1000 are used.
  expect(conditionsAt(memory, milliseconds(105_000))).toEqual({ size: 1_000, free: 850, rate: 5, load: 10 });
});

test("of a minute in which pods shrank under load it is the smallest", () => {
  const memory = after([...times(6, {}), ...times(3, { size: 600 })]);
  expect(conditionsAt(memory, milliseconds(105_000))?.size).toBe(600);
});

test("of a minute in which pods shrank after the load it is what the load had", () => {
  const memory = after([...times(6, {}), ...times(5, { size: 600, load: 0 })]);
  expect(conditionsAt(memory, milliseconds(105_000))?.size).toBe(1_000);
  expect(conditionsAt(memory, milliseconds(135_000))).toBeUndefined();
});

test("nothing is known of a minute with a cold pod, or in which requests failed", () => {
  expect(
    conditionsAt(after([...times(6, {}), ...times(4, { readyAt: 80_000 })]), milliseconds(105_000)),
  ).toBeUndefined();
  expect(conditionsAt(after([...times(6, {}), ...times(4, { failed: 5 })]), milliseconds(105_000))).toBeUndefined();
  expect(workPerRequest(after([...times(6, {}), ...times(4, { failed: 5 })]))).toBeCloseTo(30, 10);
});

test("nothing is known before the first measurement", () => {
  expect(conditionsAt(noConditions, milliseconds(0))).toBeUndefined();
});

test("who asks again after a failure is not another request", () => {
  expect(loadOf(reading(0, { load: 10, failed: 20 }))).toBe(10);
  expect(loadOf({ ...reading(0, {}), offered: null })).toBeNull();
});

test("a clock that went back forgets what was given", () => {
  const back = conditionsAfter(after(times(10, {})), reading(30_000, {}), 30_000 as Ms);
  expect(back.given.map(({ now }) => now)).toEqual([0, 15_000, 30_000]);
});

test("a kill raises the memory that a pod is known to need", () => {
  const killed = { ...reading(0, {}), ooms: [{ pod: "p-0", at: 0, memoryLimit: 1e8 }] } as unknown as WorkloadReading;
  expect(conditionsAfter(noConditions, killed, 0 as Ms).memoryPeak).toBeCloseTo(1.2e8, 0);
});
