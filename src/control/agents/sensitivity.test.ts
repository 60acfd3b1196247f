import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import {
  groupsByMeasuring,
  groupsBySensitivity,
  kindBySensitivity,
  type SensitivityRecords,
  sensitivityOf,
  usualSensitivity,
} from "./sensitivity.ts";

/** Twenty calls around a median: half a ms less and more by turns. */
const around = (middle: number, count = 20): number[] =>
  Array.from({ length: count }, (_, i) => middle + (i % 2 === 0 ? -0.5 : 0.5));
const records = (quiet: number, cpu: number, [memory, io]: readonly [number, number]): SensitivityRecords => ({
  quiet: around(quiet),
  cpu: { times: around(cpu), pressure: 2 },
  memory: { times: around(memory), pressure: 0.5 },
  io: { times: around(io), pressure: 1 },
});

test("sensitivity is how much longer a call takes, over the pressure", () => {
  // 180 of 100 is 0.8 longer under 2 units; 130 is 0.3 longer under half a unit; 104 is within the noise.
  const measured = unwrap(sensitivityOf(records(100, 180, [130, 104])));
  expect(measured.cpu).toBeCloseTo(0.4, 12);
  expect(measured.memory).toBeCloseTo(0.6, 12);
  expect(measured.io).toBe(0);
});

test("a call that got faster is not slowed down by less than nothing", () => {
  expect(unwrap(sensitivityOf(records(100, 90, [50, 100])))).toEqual({ cpu: 0, memory: 0, io: 0 });
});

test("one call that took an hour changes nothing", () => {
  const calm = records(100, 180, [130, 104]);
  const odd = { ...calm, cpu: { ...calm.cpu, times: [...calm.cpu.times.slice(1), 3_600_000] } };
  // The median moves from 180 to the upper of its two middle values, 180.5.
  expect(unwrap(sensitivityOf(odd)).cpu).toBeCloseTo(0.4025, 12);
});

test("too few calls are refused", () => {
  const calm = records(100, 180, [130, 104]);
  const few = sensitivityOf({ ...calm, io: { times: around(104, 19), pressure: 1 } });
  expect(few).toMatchObject({ ok: false, failure: { code: "agents.too-few-records", retry: true } });
});

test.each([
  ["no time in quiet", { quiet: around(0.5).map(() => 0) }],
  ["no pressure", { cpu: { times: around(180), pressure: 0 } }],
  ["a time that is no number", { memory: { times: around(Number.NaN), pressure: 1 } }],
])("%s is refused", (_, parts) => {
  const measured = sensitivityOf({ ...records(100, 180, [130, 104]), ...parts });
  expect(measured).toMatchObject({ ok: false, failure: { code: "agents.not-measured" } });
});

test("a function belongs where it is furthest above what is usual, not where it feels the most", () => {
  const all = [
    { cpu: 0.9, memory: 0, io: 0 },
    { cpu: 0.9, memory: 0.5, io: 0 },
    { cpu: 0.6, memory: 0.1, io: 0.3 },
  ];
  const usual = usualSensitivity(all);
  // Means: 0.8, 0.2 and 0.1.
  expect([usual.cpu, usual.memory, usual.io].map((mean) => mean.toFixed(6))).toEqual([
    "0.800000",
    "0.200000",
    "0.100000",
  ]);
  // Over the usual: 1.125, 0, 0; then 1.125, 2.5, 0; then 0.75, 0.5, 3.
  expect(all.map((one) => kindBySensitivity(one, usual))).toEqual(["cpu", "memory", "io"]);
});

test("what nothing slows down, and what nobody measured, counts as bound by its core", () => {
  const groups = groupsBySensitivity(new Map([["idle", { cpu: 0, memory: 0, io: 0 }]]));
  expect([groups.of("idle"), groups.of("stranger"), groups.names]).toEqual(["cpu", "cpu", ["cpu", "memory", "io"]]);
});

test("a function that comes later is told against what was usual before", () => {
  const usual = { cpu: 0.8, memory: 0.2, io: 0.1 };
  const groups = groupsBySensitivity(new Map([["late", { cpu: 0.5, memory: 0.1, io: 0.2 }]]), usual);
  expect(groups.of("late")).toBe("io");
});

test("members are measured once, when they come, against what was usual among the first", () => {
  const known = new Map([
    ["hot", { cpu: 0.9, memory: 0.1, io: 0.1 }],
    ["fat", { cpu: 0.7, memory: 0.3, io: 0.1 }],
    // Means of the first two: 0.8, 0.2, 0.1. This one is above in memory alone: 0.75, 1.75, 1.
    ["late", { cpu: 0.6, memory: 0.35, io: 0.1 }],
  ]);
  const asked: string[] = [];
  const groups = groupsByMeasuring<string>(["hot", "fat"], (workload) => {
    asked.push(workload);
    return known.get(workload);
  });
  expect([groups.of("hot"), groups.of("fat"), groups.of("late"), groups.of("late")]).toEqual([
    "cpu",
    "memory",
    "memory",
    "memory",
  ]);
  expect(groups.of("stranger")).toBe("cpu");
  expect(asked).toEqual(["hot", "fat", "late", "stranger"]);
});
