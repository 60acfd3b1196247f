import { expect, test } from "vitest";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { DemandMemory } from "./demand.ts";
import { demandAfter, demandOf, noDemand } from "./demand.ts";

interface Pod {
  readonly isReady?: boolean;
  readonly cpuLimit?: number;
  readonly memory?: number | null;
}

const reading = (...pods: readonly Pod[]) =>
  ({
    pods: pods.map(({ isReady = true, cpuLimit = 500, memory = 100 }) => ({
      readyAt: isReady ? 0 : null,
      cpuLimit,
      memory,
    })),
    ooms: [],
  }) as unknown as WorkloadReading;

const after = (steps: readonly (readonly [WorkloadReading, number])[]): DemandMemory =>
  steps.reduce((memory, [seen, use]) => demandAfter(memory, seen, use), noDemand);

test("the CPU that is needed is use times the limits of the pods that are ready", () => {
  // 40 % of 500 and 1,000; the pod that starts serves nothing yet.
  const seen = reading({}, { cpuLimit: 1000 }, { isReady: false });
  expect(demandOf(after([[seen, 0.4]])).cores).toBeCloseTo(600);
});

test("it is the most of the last eight readings", () => {
  const uses = [0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
  const story = uses.map((use) => [reading({}), use] as const);
  expect(demandOf(after(story)).cores).toBeCloseTo(450);
  expect(demandOf(after([...story, [reading({}), 0.2]])).cores).toBeCloseTo(100);
});

test("a workload that is down is not one that needs nothing", () => {
  const up = after([[reading({}), 0.8]]);
  const down = Array.from({ length: 20 }).reduce<DemandMemory>(
    (memory) => demandAfter(memory, reading({ isReady: false, memory: null }), 0),
    up,
  );
  expect(demandOf(down).cores).toBeCloseTo(400);
  expect(demandOf(after([])).cores).toBe(0);
});

test("the memory that is needed is that of the hottest pod, and half forgotten after three days", () => {
  const hot = after([[reading({ memory: 1000 }, { memory: 300 }), 0.5]]);
  expect(demandOf(hot).memory).toBe(1000);
  let memory = hot;
  for (let i = 0; i < 17_280; i++) memory = demandAfter(memory, reading({ memory: 100 }, { memory: null }), 0.5);
  expect(demandOf(memory).memory).toBeCloseTo(500);
  expect(demandOf(demandAfter(memory, reading({ memory: 700 }), 0.5)).memory).toBe(700);
});

test("a pod that was killed for its memory needed a fifth more than it had", () => {
  const killed = {
    ...reading({ memory: null, isReady: false }),
    ooms: [{ memoryLimit: 500 }],
  } as unknown as WorkloadReading;
  expect(
    demandOf(
      after([
        [reading({}), 0.5],
        [killed, 0],
      ]),
    ),
  ).toEqual({ cores: 250, memory: 600 });
});
