import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ms, PerSecond, Ratio } from "../../../base/index.ts";
import {
  mebibytes,
  millicores,
  milliseconds,
  parseWorkloadId,
  perSecond,
  ratio,
  seconds,
  unwrap,
} from "../../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { AutoscaleOptions } from "./autoscale.ts";
import { autoscaleTask } from "./autoscale.ts";
import type { Feature, ObservationMemory } from "./observation.ts";
import { encodeObservation, featuresOf, freshObservationMemory as fresh, observationSpace } from "./observation.ts";

const bounds: AutoscaleOptions["bounds"] = {
  replicas: { min: 1, max: 16 },
  cpu: { min: millicores(100), max: millicores(1600) },
  memory: { min: mebibytes(64), max: mebibytes(4096) },
};
const taskOf = (options: Partial<AutoscaleOptions> = {}) =>
  unwrap(autoscaleTask({ slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) }, bounds, ...options }));
const task = taskOf();
const now = seconds(1_700_000_000);
const pod = (readyAt: Ms | null): PodReading => ({
  pod: "p",
  createdAt: seconds(0),
  readyAt,
  cpuLimit: millicores(400),
  memoryLimit: mebibytes(512),
  cpu: null,
  memory: null,
  restarts: 0,
});
const reading: WorkloadReading = {
  workload: unwrap(parseWorkloadId("shop")),
  at: milliseconds(now - 20_000),
  spec: { replicas: 4, cpu: millicores(400), memory: mebibytes(512) },
  pods: [pod(seconds(0)), pod(seconds(0)), pod(seconds(0)), pod(null)],
  use: { cpu: 0.5 as Ratio, memory: 0.75 as Ratio, io: 0.25 as Ratio, network: 0 as Ratio },
  latency: milliseconds(200),
  offered: perSecond(60),
  completed: perSecond(60),
  failed: perSecond(0),
  ooms: [],
};
const nothing = { cpu: null, memory: null, io: null, network: null };
const memoryOf = (last: WorkloadReading = reading): ObservationMemory =>
  unwrap(encodeObservation(task, last, { memory: fresh, now })).memory;

describe("what the policy sees", () => {
  test("is worked out by hand here", () => {
    const before = memoryOf({ ...reading, offered: perSecond(20) });
    const { values } = unwrap(encodeObservation(task, reading, { memory: before, now }));
    const seen = Object.fromEntries(featuresOf(task).map((name, index) => [name, values[index]]));
    const expected: Record<Feature, number> = {
      "cpu-limit": 0, // 400 is the geometric middle of 100 and 1600
      "memory-limit": 0, // 512 of 64 and 4096
      "cpu-use": 0,
      "memory-use": 0.5,
      "io-use": -0.5,
      "network-use": -1,
      "latency-preservation": 0, // 100/200 = 0.5
      "throughput-preservation": 1, // no such SLO
      "load-change": 0.5, // (60 - 20)/(60 + 20)
      replicas: 0, // 4 of 1 and 16
      load: 0.5, // (60 - 20)/(60 + 20), 20 being the usual load
      "ready-share": 0.5, // 3 of 4
      "slo-margin": -1 / 2, // (100 - 200)/(100 + 200) is less far, but SP - 1 counts where the SLO is missed
    };
    for (const [name, value] of Object.entries(expected)) expect(seen[name], name).toBeCloseTo(value, 6);
  });

  test("of the paper is Table 1 and nothing else", () => {
    const paper = taskOf({ features: "paper" });
    const { values } = unwrap(encodeObservation(paper, reading, { memory: fresh, now }));
    expect(values).toHaveLength(9);
    expect(featuresOf(paper)).toEqual(featuresOf(task).slice(0, 9));
    const { values: more } = unwrap(encodeObservation(task, reading, { memory: fresh, now }));
    expect([...values]).toEqual([...more.slice(0, 9)]);
  });

  test("shows how near the SLO is while it is met", () => {
    const margin = (latency: number): number => {
      const seen = unwrap(
        encodeObservation(task, { ...reading, latency: milliseconds(latency) }, { memory: fresh, now }),
      );
      return seen.measures.margin;
    };
    expect(margin(100)).toBe(0);
    expect(margin(50)).toBeCloseTo(1 / 3, 12);
    expect(margin(99)).toBeGreaterThan(0);
    expect(margin(101)).toBeLessThan(0);
  });

  test("of a throughput SLO is in its own place", () => {
    const throughput = taskOf({ slo: { kind: "throughput", target: perSecond(100) } });
    const slow = { ...reading, completed: perSecond(28.5) }; // of 57, since 60 are offered and three may be under way
    const { values } = unwrap(encodeObservation(throughput, slow, { memory: fresh, now }));
    expect([values[6], values[7]]).toEqual([1, 0]);
  });

  test("of an availability SLO is in the throughput's place: both are about answers", () => {
    const available = taskOf({ slo: { kind: "availability", target: ratio(0.9) } });
    const shedding = { ...reading, completed: perSecond(27), failed: perSecond(33) }; // 0.45 of 0.9
    const { values, measures } = unwrap(encodeObservation(available, shedding, { memory: fresh, now }));
    expect([values[6], values[7]]).toEqual([1, 0]);
    expect(measures.margin).toBeCloseTo(-0.5, 12);
  });

  test("of a throughput SLO's margin is all there is, until it is missed: then SP − 1", () => {
    const throughput = taskOf({ slo: { kind: "throughput", target: perSecond(100) } });
    const margin = (completed: number): number => {
      const seen = { ...reading, completed: perSecond(completed) };
      return unwrap(encodeObservation(throughput, seen, { memory: fresh, now })).measures.margin;
    };
    expect([margin(60), margin(57)]).toEqual([1, 1]);
    expect(margin(28.5)).toBeCloseTo(-0.5, 12);
    expect(margin(0)).toBe(-1);
    const none = taskOf({ slo: { kind: "none" } });
    expect(unwrap(encodeObservation(none, reading, { memory: fresh, now })).measures.margin).toBe(1);
  });

  test("is the same after the memory went through JSON", () => {
    const memory = memoryOf();
    const copy = JSON.parse(JSON.stringify(memory)) as ObservationMemory;
    const later = { ...reading, use: nothing, offered: perSecond(5) };
    expect(encodeObservation(task, later, { memory: copy, now })).toEqual(
      encodeObservation(task, later, { memory, now }),
    );
  });
});

describe("a measurement that is missing", () => {
  const later = (s: number): Ms => milliseconds(now + s * 1000);
  const lost = { ...reading, use: { ...reading.use, cpu: null } };

  test("is held at its last value", () => {
    const seen = unwrap(encodeObservation(task, lost, { memory: memoryOf(), now: later(15) }));
    expect(seen.measures.cpu).toBe(0.5);
    expect(seen.held).toEqual(["cpu"]);
  });

  test("is held for 90 s and not longer", () => {
    // taken 20 s before `now`
    const at = (s: number) => encodeObservation(task, lost, { memory: memoryOf(), now: later(s) });
    expect(at(70).ok).toBe(true);
    expect(at(71)).toMatchObject({ ok: false, failure: { code: "telemetry.stale", retry: true } });
  });

  test("is not there before it was ever measured", () => {
    expect(encodeObservation(task, lost, { memory: fresh, now })).toMatchObject({
      ok: false,
      failure: { code: "telemetry.never-measured", retry: true },
    });
  });

  test("is zero where a platform never measures disks and networks", () => {
    const plain = { ...reading, use: { ...reading.use, io: null, network: null } };
    const seen = unwrap(encodeObservation(task, plain, { memory: fresh, now }));
    expect(seen.measures).toMatchObject({ io: 0, network: 0 });
  });

  test("is zero use where no pod is ready: a crash loop is seen, not waited for", () => {
    const down = {
      ...reading,
      pods: [pod(null)],
      use: nothing,
      latency: null,
      completed: perSecond(0),
      failed: perSecond(60),
    };
    const seen = unwrap(encodeObservation(task, down, { memory: fresh, now }));
    expect(seen.measures).toMatchObject({ cpu: 0, memory: 0, preservation: 0, margin: -1 });
    expect(seen.held).toEqual([]);
  });
});

test("a whole reading that is old is stale, and one from the future is refused", () => {
  const old = { ...reading, at: milliseconds(now - 90_001) };
  expect(encodeObservation(task, old, { memory: fresh, now })).toMatchObject({ failure: { code: "telemetry.stale" } });
  const ahead = { ...reading, at: milliseconds(now + 5_001) };
  expect(encodeObservation(task, ahead, { memory: fresh, now })).toMatchObject({
    failure: { code: "telemetry.future" },
  });
  const nowhere = { ...reading, at: milliseconds(Number.NaN) };
  expect(encodeObservation(task, nowhere, { memory: fresh, now }).ok).toBe(false);
});

test("whatever a reading says, the values are of the declared space", () => {
  const amount = fc.double({ min: 0, max: 1e12, noNaN: true });
  const maybe = fc.option(amount, { freq: 4 });
  fc.assert(
    fc.property(
      fc.record({ latency: maybe, offered: amount, completed: maybe, failed: maybe, cpu: maybe, memory: maybe }),
      fc.record({ replicas: fc.nat(), cpu: amount, memory: amount }),
      fc.constantFrom<AutoscaleOptions["slo"]>(
        { kind: "latency", quantile: 0.5, target: milliseconds(10) },
        { kind: "throughput", target: perSecond(10) },
        { kind: "availability", target: ratio(0.999) },
        { kind: "none" },
      ),
      (found, spec, slo) => {
        const wild = taskOf({ slo });
        const next: WorkloadReading = {
          ...reading,
          spec: spec as WorkloadReading["spec"],
          use: { ...reading.use, cpu: found.cpu as Ratio | null, memory: found.memory as Ratio | null },
          latency: found.latency as Ms | null,
          offered: found.offered as PerSecond,
          completed: found.completed as PerSecond | null,
          failed: found.failed as PerSecond | null,
        };
        const { values, measures } = unwrap(encodeObservation(wild, next, { memory: memoryOf(), now }));
        expect(observationSpace(wild).contains(values)).toBe(true);
        for (const name of ["cpu", "memory", "preservation"] as const) {
          expect(measures[name]).toBeGreaterThanOrEqual(0);
          expect(measures[name]).toBeLessThanOrEqual(1);
        }
      },
    ),
    { seed: 8, numRuns: 500 },
  );
});

test.each([
  { what: "bounds the wrong way round", options: { bounds: { ...bounds, replicas: { min: 3, max: 2 } } } },
  { what: "no memory at all", options: { bounds: { ...bounds, memory: { min: 0, max: 5 } } } },
  { what: "alpha above 1", options: { alpha: 1.1 } },
  { what: "head-room that is all there is", options: { headroom: 1 } },
  { what: "head-room beyond the target", options: { headroom: -0.1 } },
  { what: "a switch cost that pays", options: { switchCost: -1 } },
  { what: "a utilisation target of nothing", options: { utilisation: { cpu: 0, memory: 1 } } },
  { what: "an episode of no steps", options: { episodeSteps: 0 } },
  { what: "no time between steps", options: { controlStep: 0 } },
])("a task with $what is refused", ({ options }) => {
  const odd = { slo: { kind: "none" }, bounds, ...options } as AutoscaleOptions;
  expect(autoscaleTask(odd)).toMatchObject({ ok: false, failure: { code: "autoscale.task" } });
});
