/** The portfolio in the task: records are kept, advice is due now and then, and whose plan is acted on follows from it. */
import { expect, test } from "vitest";
import type { Allocation } from "../../../../act/index.ts";
import type { Ms } from "../../../../base/index.ts";
import { bytes, mebibytes, millicores, milliseconds, unwrap } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { autoscaleTask, productMode } from "../autoscale.ts";
import type { Observation, ObservationMemory } from "../observation.ts";
import { podsTask } from "../task.ts";
import { podsAdvice } from "./advisor.ts";
import type { Advice } from "./portfolio.ts";

const settings = unwrap(
  autoscaleTask({
    slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) },
    bounds: {
      replicas: { min: 1, max: 12 },
      cpu: { min: millicores(100), max: millicores(4_000) },
      memory: { min: mebibytes(64), max: mebibytes(2_048) },
    },
    ...productMode,
    portfolio: true,
  }),
);
const task = podsTask(settings);
const have: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };
const advice: Advice = {
  at: 0,
  seat: "prior",
  why: "cheaper",
  prior: { pods: 3, size: 600, utilisation: 0.5, spare: 0, lookBack: 1, yesterday: false },
  model: null,
  replayed: null,
  estimates: {},
  refused: null,
};

/** Requests of 40 millicore-seconds at 75 ms; 20 of them a second. */
function reading(now: number, latency = 75): WorkloadReading {
  return {
    workload: "w",
    at: now - 15_000,
    spec: have,
    pods: Array.from({ length: 2 }, (_, i) => ({
      pod: `p-${i}`,
      createdAt: -1e6,
      readyAt: -1e6,
      cpuLimit: have.cpu,
      memoryLimit: have.memory,
      cpu: 400,
      memory: bytes(1e8),
      restarts: 0,
    })),
    use: { cpu: 0.3, memory: 0.5, io: 0, network: 0 },
    latency: latency * (1 + 0.02 * Math.sin(now)),
    offered: 20,
    completed: 20,
    failed: 0,
    ooms: [],
  } as unknown as WorkloadReading;
}

interface Watched {
  readonly steps: number;
  readonly from?: number;
  readonly memory?: unknown;
  readonly latency?: number;
}

function watched({ steps, from = 0, memory = task.freshMemory, latency }: Watched): Observation {
  let known = memory;
  let seen: Observation | undefined;
  for (let i = from + 1; i <= from + steps; i++) {
    const now = (15_000 * i) as Ms;
    seen = unwrap(task.encode(reading(now, latency), { memory: known, now }));
    known = seen.memory;
  }
  return seen as Observation;
}

const advised = (memory: unknown, given: Advice): unknown => task.advisor?.advised(memory, given);

test("without a portfolio nothing is kept for one, and nothing is advised", () => {
  const plain = podsTask({ ...settings, portfolio: false });
  const now = 15_000 as Ms;
  const { memory } = unwrap(plain.encode(reading(now), { memory: plain.freshMemory, now }));
  expect((memory as ObservationMemory).calibration).toBeUndefined();
  expect(plain.advisor).toBeUndefined();
});

test("advice is due after six hours of records, and six hours after the last", () => {
  const early = watched({ steps: 4 * 355 });
  expect(task.advisor?.work(early.memory)).toBeUndefined();
  const late = watched({ steps: 4 * 10, from: 4 * 355, memory: early.memory });
  const job = task.advisor?.work(late.memory);
  expect(job).toMatchObject({ kind: "pods advice", config: { before: null, task: { attainment: 0.99 } } });
  // A thread gets a copy, and says the same.
  const copy = JSON.parse(JSON.stringify(job?.config)) as Parameters<typeof podsAdvice>[0];
  const made = podsAdvice(copy);
  expect(made).toEqual(task.advisor?.advise(job?.config));
  const after = advised(late.memory, made);
  expect((after as ObservationMemory).calibration?.advice).toBe(made);
  expect(task.advisor?.work(after)).toBeUndefined();
});

test("a prior that is advised plans: three pods of 800 / (3 · 0.5) millicores, but no smaller than 600; and says so", () => {
  const { memory } = watched({ steps: 100 });
  const seen = watched({ steps: 1, from: 100, memory: advised(memory, advice) });
  expect(task.reasons?.(seen)).toEqual([
    { by: "capacity", rule: "need" },
    { by: "portfolio", rule: "prior" },
  ]);
  expect(task.decode([0, 0], seen)).toEqual({ replicas: 3, cpu: 600, memory: mebibytes(200) });
  const planner = watched({ steps: 1, from: 100, memory: advised(memory, { ...advice, seat: "plan" }) });
  expect(task.reasons?.(planner)).toEqual([{ by: "capacity", rule: "need" }]);
});

test("after a dozen missed steps beyond the budget the planner plans again, until the next advice", () => {
  const { memory } = watched({ steps: 100 });
  const few = watched({ steps: 12, from: 100, memory: advised(memory, advice), latency: 120 });
  expect(few.modelled?.by).toBe("prior");
  const many = watched({ steps: 2, from: 112, memory: few.memory, latency: 120 });
  expect(many.modelled?.by).toBe("plan");
  const again = watched({ steps: 1, from: 114, memory: advised(many.memory, advice) });
  expect(again.modelled?.by).toBe("prior");
});

test("what is no advice changes nothing, and all of it survives JSON", () => {
  const { memory } = watched({ steps: 100 });
  expect(task.advisor?.advised(memory, "nonsense")).toBe(memory);
  const saved = JSON.parse(JSON.stringify(advised(memory, advice))) as unknown;
  const [one, other] = [saved, advised(memory, advice)].map((known) => watched({ steps: 8, from: 100, memory: known }));
  expect(one?.memory).toEqual(other?.memory);
  expect(one?.modelled?.plan).toEqual(other?.modelled?.plan);
});
