import { expect, test } from "vitest";
import { bytes, millicores, milliseconds, parseWorkloadId, unwrap } from "../../base/index.ts";
import type { WorkloadReading } from "./reading.ts";
import { telemetryConformance } from "./source.conformance.ts";
import { memoryTelemetry } from "./source.ts";

const workload = unwrap(parseWorkloadId("shop"));
const reading: WorkloadReading = {
  workload,
  at: milliseconds(60_000),
  spec: { replicas: 1, cpu: millicores(100), memory: bytes(1) },
  pods: [],
  use: { cpu: null, memory: null, io: null, network: null },
  latency: null,
  offered: null,
  completed: null,
  failed: null,
  ooms: [],
};

telemetryConformance("memory", () => ({ workload, source: memoryTelemetry([reading]) }));

test("memory gives the newest reading, and none of a workload that was removed", async () => {
  const source = memoryTelemetry([reading]);
  const newer = { ...reading, at: milliseconds(75_000) };
  source.put(newer);
  const { signal } = new AbortController();
  expect(unwrap(await source.read(workload, signal))).toBe(newer);
  source.remove(workload);
  expect(await source.read(workload, signal)).toMatchObject({ failure: { code: "telemetry.unknown-workload" } });
});
