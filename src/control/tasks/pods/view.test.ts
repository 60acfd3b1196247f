import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import type { Ms, WorkloadId } from "../../../base/index.ts";
import { mebibytes, millicores, milliseconds, perSecond, ratio, seconds } from "../../../base/index.ts";
import type { PodReading, Slo, WorkloadReading } from "../../../observe/telemetry/index.ts";
import { objectiveWords, podView } from "./view.ts";

const slo: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const have: Allocation = { replicas: 2, cpu: millicores(1_000), memory: mebibytes(100) };
const step = { slo, have, passed: seconds(15) };
const view = podView({
  task: { alpha: 0.5, utilisation: { cpu: ratio(1), memory: ratio(1) } },
  most: 4,
  // A dollar for each pod and second.
  priceOf: ({ replicas }, passed) => (replicas * passed) / 1_000,
});

const pod = (change: Partial<PodReading> = {}): PodReading => ({
  pod: "a",
  createdAt: milliseconds(0),
  readyAt: milliseconds(0),
  cpuLimit: have.cpu,
  memoryLimit: have.memory,
  cpu: millicores(500),
  memory: mebibytes(50),
  restarts: 0,
  ...change,
});

const reading = (change: Partial<WorkloadReading> = {}): WorkloadReading => ({
  workload: "shop" as WorkloadId,
  at: 0 as Ms,
  spec: have,
  pods: [pod(), pod({ pod: "b" })],
  use: { cpu: ratio(0.5), memory: ratio(0.5), io: null, network: null },
  latency: milliseconds(200),
  offered: perSecond(10),
  completed: perSecond(10),
  failed: perSecond(0),
  ooms: [],
  ...change,
});

test("a reading says what a step came to", () => {
  const measured = view.measure(reading(), step);
  expect(measured).toEqual({
    load: 10,
    latency: 200,
    // 100 of 200 ms, all answered.
    preservation: 0.5,
    ready: 2,
    use: { cpu: 1_000, memory: mebibytes(100) },
    // alpha · SP · 2 + (1 − alpha) · (0.5 + 0.5)
    reward: 1,
    cost: 30,
    sums: {
      cpuUsed: 15,
      cpuGranted: 30,
      memoryUsed: 15 * mebibytes(100),
      memoryGranted: 15 * mebibytes(200),
    },
    harmed: 0,
  });
  expect(Object.keys(measured.sums)).toEqual(view.sums);
});

test("what was not measured is null, and is granted nothing", () => {
  const unread = pod({ pod: "b", cpu: null, memory: null, readyAt: null });
  const half = view.measure(reading({ pods: [pod(), unread], latency: null, completed: perSecond(5) }), step);
  expect(half).toMatchObject({ preservation: null, reward: null, ready: 1, use: { cpu: 500 } });
  expect(half.sums.cpuGranted).toBe(15);
  const nothing = view.measure(null, step);
  expect(nothing).toMatchObject({
    load: null,
    preservation: null,
    ready: 2,
    use: { cpu: null, memory: null },
    cost: 30,
  });
});

test("kills are harm, and the knob that is short is named", () => {
  const ooms = [{ pod: "a", at: milliseconds(1), memoryLimit: have.memory }];
  expect(view.measure(reading({ ooms }), step).harmed).toBe(1);
  const measured = view.measure(reading(), step);
  const symptom = { measured, have, harmed: 0, isExplained: false };
  expect(view.symptom(symptom)).toBe("CPU is short in bursts, 50 % of it is used on average");
  expect(view.symptom({ ...symptom, harmed: 3 })).toBe("memory is short, 3 pods were killed for it");
});

test("an objective is said in one line, with the grid that it counts carbon by", () => {
  expect(objectiveWords({ objective: "cost" })).toBe("least cost within the error budget");
  expect(objectiveWords({ objective: "carbon", carbonIntensity: [380] })).toBe(
    "least carbon at 380 g/kWh within the error budget",
  );
  const carbonIntensity = Array.from({ length: 24 }, (_, hour) => 100 + 10 * hour);
  expect(objectiveWords({ objective: "weights", weights: { cost: 1, energy: 0, carbon: 0.5 }, carbonIntensity })).toBe(
    "least 1 × cost + 0.5 × carbon at 100 to 330 g/kWh within the error budget",
  );
  expect(objectiveWords({ objective: "paper" })).toBe("SLO preservation and utilisation, as in the paper");
});
