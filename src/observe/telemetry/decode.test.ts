import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseReading } from "./decode.ts";

const pod = {
  pod: "shop-1",
  createdAt: 1_000,
  readyAt: 5_000,
  cpuLimit: 500,
  memoryLimit: 268_435_456,
  cpu: 120.5,
  memory: null,
  restarts: 0,
};
const reading = {
  workload: "shop",
  at: 60_000,
  spec: { replicas: 2, cpu: 500, memory: 268_435_456 },
  pods: [pod, { ...pod, pod: "shop-2", readyAt: null, cpu: null }],
  use: { cpu: 0.241, memory: null, io: 0, network: 0.02 },
  latency: 83,
  offered: 12,
  completed: 11.5,
  failed: 0.5,
  ooms: [{ pod: "shop-2", at: 59_000, memoryLimit: 268_435_456 }],
};

test("a reading comes through JSON as it was", () => {
  expect(parseReading(JSON.parse(JSON.stringify(reading)))).toEqual({ ok: true, value: reading });
});

test("what is not known is left out", () => {
  expect(parseReading({ ...reading, gpu: 3, pods: [{ ...pod, node: "n1" }] })).toEqual({
    ok: true,
    value: { ...reading, pods: [pod] },
  });
});

describe("refused, with the field", () => {
  const { latency: _latency, ...noLatency } = reading;
  test.each([
    { what: "nothing", value: undefined, code: "malformed", field: "reading is missing" },
    { what: "a text", value: "up", code: "malformed", field: "reading is a string" },
    { what: "a missing field", value: noLatency, code: "malformed", field: "reading.latency is missing" },
    { what: "NaN", value: { ...reading, latency: Number.NaN }, code: "not-a-measure", field: "reading.latency" },
    { what: "a negative rate", value: { ...reading, offered: -1 }, code: "not-a-measure", field: "reading.offered" },
    {
      what: "infinity in a pod",
      value: { ...reading, pods: [{ ...pod, cpu: Number.POSITIVE_INFINITY }] },
      code: "not-a-measure",
      field: "reading.pods[0].cpu",
    },
    {
      what: "half a replica",
      value: { ...reading, spec: { ...reading.spec, replicas: 1.5 } },
      code: "not-a-measure",
      field: "reading.spec.replicas",
    },
    { what: "a number as text", value: { ...reading, at: "60000" }, code: "malformed", field: "reading.at" },
    {
      what: "a limit that is null",
      value: { ...reading, spec: { ...reading.spec, cpu: null } },
      code: "malformed",
      field: "reading.spec.cpu is null",
    },
    { what: "pods that are no list", value: { ...reading, pods: {} }, code: "malformed", field: "reading.pods" },
    {
      what: "a name that is none",
      value: { ...reading, workload: "../etc" },
      code: "malformed",
      field: "reading.workload",
    },
    {
      what: "a kill without a pod",
      value: { ...reading, ooms: [{ at: 1, memoryLimit: 1 }] },
      code: "malformed",
      field: "reading.ooms[0].pod is missing",
    },
  ])("$what", ({ value, code, field }) => {
    const parsed = parseReading(value);
    expect(parsed).toMatchObject({ ok: false, failure: { code: `telemetry.${code}` } });
    expect(parsed.ok ? "" : parsed.failure.message).toContain(field);
  });
});

test("whatever comes is a reading or a coded failure, and never thrown", () => {
  fc.assert(
    fc.property(fc.anything(), fc.constantFrom(...Object.keys(reading)), (anything, key) => {
      for (const value of [anything, { ...reading, [key]: anything }]) {
        const parsed = parseReading(value);
        if (!parsed.ok) expect(parsed.failure.code).toMatch(/^telemetry\.(malformed|not-a-measure)$/);
      }
    }),
    { seed: 11, numRuns: 500 },
  );
  const hostile = {
    get workload(): never {
      throw new Error("no");
    },
  };
  expect(parseReading(hostile)).toMatchObject({ ok: false, failure: { code: "telemetry.malformed" } });
});
