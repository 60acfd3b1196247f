import { expect, test } from "vitest";
import type { Ratio } from "../../../../base/index.ts";
import {
  mebibytes,
  millicores,
  milliseconds,
  parseWorkloadId,
  perSecond,
  seconds,
  unwrap,
} from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { autoscaleTask } from "../autoscale.ts";
import type { ObservationMemory } from "../observation.ts";
import { encodeObservation, featuresOf, freshObservationMemory, observationSpace } from "../observation.ts";

const options = {
  slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) },
  bounds: {
    replicas: { min: 1, max: 16 },
    cpu: { min: millicores(100), max: millicores(1_600) },
    memory: { min: mebibytes(64), max: mebibytes(4_096) },
  },
} as const;
const extended = unwrap(autoscaleTask(options));
const augmented = unwrap(autoscaleTask({ ...options, features: "augmented" }));
const now = seconds(1_000);

/** Two ready pods of 400 millicores, half used; 256 of 512 MiB: 2 times the CPU and 2 times the memory of the need. */
const reading: WorkloadReading = {
  workload: unwrap(parseWorkloadId("shop")),
  at: now,
  spec: { replicas: 2, cpu: millicores(400), memory: mebibytes(512) },
  pods: [1, 2].map((pod) => ({
    pod: `pod-${pod}`,
    createdAt: seconds(0),
    readyAt: seconds(0),
    cpuLimit: millicores(400),
    memoryLimit: mebibytes(512),
    cpu: millicores(200),
    memory: mebibytes(256),
    restarts: 0,
  })),
  use: { cpu: 0.5 as Ratio, memory: 0.5 as Ratio, io: 0 as Ratio, network: 0 as Ratio },
  latency: milliseconds(50),
  offered: perSecond(60),
  completed: perSecond(60),
  failed: perSecond(0),
  ooms: [],
};

const look = (seen: WorkloadReading = reading, memory: ObservationMemory = freshObservationMemory) =>
  unwrap(encodeObservation(augmented, seen, { memory, now }));
const featureOf = (values: Float32Array, name: string) =>
  values[featuresOf(augmented).findIndex((one) => one === name)];

test("the augmented features follow the extended ones, which stay as they are", () => {
  const { values } = look();
  expect(observationSpace(augmented).size).toBe(13 + 1 + 24);
  expect(values).toHaveLength(38);
  expect(observationSpace(augmented).contains(values)).toBe(true);
  const plain = unwrap(encodeObservation(extended, reading, { memory: freshObservationMemory, now }));
  expect(values.subarray(0, 13)).toEqual(plain.values);
  expect(plain.memory).not.toHaveProperty("augmented");
});

test("what an allocation brought is in its cell from the same reading on", () => {
  const { values, memory } = look();
  // The SLO is kept, and half of CPU and of memory is used.
  expect(featureOf(values, "table-preservation-2-2")).toBe(1);
  expect(featureOf(values, "table-use-2-2")).toBe(0);
  // Latency at twice the target: SP 0.5, and the mean of both readings is 0.75.
  const later = look({ ...reading, latency: milliseconds(200) }, memory);
  expect(featureOf(later.values, "table-preservation-2-2")).toBeCloseTo(0.5, 6);
});

test("a reading that lacks a measure, or a workload without a ready pod, says nothing about an allocation", () => {
  const { memory } = look();
  const blind = look({ ...reading, use: { ...reading.use, cpu: null } }, memory);
  expect(blind.memory.augmented?.table).toEqual(memory.augmented?.table);
  const down = { ...reading, pods: reading.pods.map((pod) => ({ ...pod, readyAt: null })) };
  expect(look(down, memory).memory.augmented?.table).toEqual(memory.augmented?.table);
});

test("the forecast of a load that grows by a twentieth of itself every step is in the observation", () => {
  let memory = freshObservationMemory;
  let values: Float32Array = new Float32Array(0);
  for (let t = 0; t < 60; t++) {
    ({ values, memory } = look({ ...reading, offered: perSecond(60 * 1.05 ** t) }, memory));
  }
  // (1.05 − 1)/(1.05 + 1)
  expect(featureOf(values, "load-forecast")).toBeCloseTo(0.05 / 2.05, 3);
});
