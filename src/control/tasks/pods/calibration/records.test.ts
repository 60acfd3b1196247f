import { expect, test } from "vitest";
import type { Allocation } from "../../../../act/index.ts";
import type { Ms } from "../../../../base/index.ts";
import { bytes, mebibytes, millicores, milliseconds } from "../../../../base/index.ts";
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { CapacityMemory } from "../capacity/planner.ts";
import { capacityPlanner } from "../capacity/planner.ts";
import type { Records } from "./records.ts";
import { minutesOf, noRecords, recordsAfter } from "./records.ts";

const slo: Slo = { kind: "latency", quantile: 0.99, target: milliseconds(100) };
const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};
const have: Allocation = { replicas: 2, cpu: millicores(1_500), memory: mebibytes(200) };

/** Requests of 40 millicore-seconds, at 75 ms, and at 150 in some minutes. */
function reading(now: number, load: number, latency: number): WorkloadReading {
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
      cpu: (load * 40) / 2,
      memory: bytes(1e8),
      restarts: 0,
    })),
    use: { cpu: null, memory: null, io: null, network: null },
    latency: load === 0 ? null : latency,
    offered: load,
    completed: load,
    failed: 0,
    ooms: [],
  } as unknown as WorkloadReading;
}

interface Life {
  readonly minutes: number;
  readonly load?: (minute: number) => number;
  readonly isMissed?: (minute: number) => boolean;
  readonly throughJson?: boolean;
}

function life({ minutes, load = () => 20, isMissed = () => false, throughJson = false }: Life): Records {
  const planner = capacityPlanner({ slo, bounds });
  let memory: CapacityMemory = planner.fresh;
  let records = noRecords;
  for (let step = 1; step <= 4 * minutes; step++) {
    const now = 15_000 * step;
    const minute = Math.floor((now - 15_000) / 60_000);
    const seen = reading(now, load(minute), isMissed(minute) ? 150 : 75);
    const { memory: after } = planner.step(memory, seen, now as Ms);
    records = recordsAfter(records, { before: memory, after, reading: seen });
    if (throughJson) records = JSON.parse(JSON.stringify(records)) as Records;
    memory = after;
  }
  return records;
}

test("a minute is what came, what there was and how near the SLO it was", () => {
  const minutes = minutesOf(life({ minutes: 30 }));
  // 20 requests of 40 in two pods of 1,500 leave 1,100; 75 of 100 ms is a strain of −0.288.
  expect(minutes.at(-1)).toEqual({
    at: 28,
    load: 20,
    peak: 20,
    pods: 2,
    size: 1_500,
    free: 1_100,
    strain: -0.288,
    missed: 0,
    work: 40,
  });
});

test("missed readings are counted for their minute, and silence has no strain", () => {
  const records = life({ minutes: 40, load: (m) => (m === 20 ? 0 : 20), isMissed: (m) => m === 10 });
  const at = (minute: number) => minutesOf(records).find((one) => one.at === minute);
  expect(at(10)).toMatchObject({ missed: 1 });
  expect(at(11)).toMatchObject({ missed: 0 });
  expect(at(20)).toMatchObject({ load: 0, strain: null, missed: 0 });
});

test("two days are kept, and no more", () => {
  const records = life({ minutes: 50 * 60 });
  expect(records.hours.length).toBeLessThanOrEqual(48);
  expect(records.hours.at(-1)?.hour).toBe(49);
  expect(minutesOf(records).length).toBeGreaterThan(47 * 60 - 2);
  expect(JSON.stringify(records).length).toBeLessThan(130_000);
});

test("the most memory of a pod and what it had are kept by hour", () => {
  // 1e8 bytes are 95.4 MiB.
  expect(life({ minutes: 10 }).hours[0]?.memory).toEqual({ used: 96, given: 200 });
});

test("the same readings give the same records, also through JSON", () => {
  const load = (minute: number) => 5 + (minute % 9);
  expect(life({ minutes: 70, load, throughJson: true })).toEqual(life({ minutes: 70, load }));
});

test("a clock that goes back begins anew", () => {
  const planner = capacityPlanner({ slo, bounds });
  const memory: CapacityMemory = { ...planner.fresh, seenAt: 6_000_000 as Ms };
  const seen = reading(60_000, 20, 75);
  const { memory: after } = planner.step(memory, seen, 60_000 as Ms);
  expect(recordsAfter(life({ minutes: 90 }), { before: memory, after, reading: seen }).hours).toEqual([]);
});
