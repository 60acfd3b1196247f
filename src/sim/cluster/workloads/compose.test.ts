import { expect, test } from "vitest";
import { CodedError, mebibytes, milliseconds } from "../../../base/index.ts";
import { basePayloads, updatedPayloads } from "./calibration.ts";
import { composeApplication, type ServerSettings, withPayloads } from "./compose.ts";

const server: ServerSettings = {
  sigma: 0.3,
  threads: 8,
  queue: 32,
  timeout: milliseconds(2_000),
  retries: 1,
  startup: { mean: milliseconds(5_000), sigma: 0.3 },
  warmup: { factor: 1.5, span: milliseconds(30_000) },
  runtime: mebibytes(40),
};

test("an application's phases, sizes and memory are the sums worked out by hand", () => {
  const application = composeApplication(["compression", "file-read"], server);
  // Compression of 256 kB: 1 + 14.08 ms; reading them: 1 + 2.56 ms of CPU, 1.5 + 3.072 ms of waiting; handling: 5 ms.
  expect(application.phases).toMatchObject([
    { segment: "compression", width: 1, wait: 0, io: 0 },
    { segment: "file-read", width: 1, io: 256_000 },
  ]);
  expect(application.phases[0]?.cpu).toBeCloseTo(20.08, 10);
  expect(application.phases[1]?.cpu).toBeCloseTo(3.56, 10);
  expect(application.phases[1]?.wait).toBeCloseTo(4.572, 10);
  // With 128 kB: 5 + 8.04 + 2.28 + 3.036 = 18.356 of 28.212 ms; symmetrically more with 384 kB.
  expect(application.sizes[0]).toBeCloseTo(18.356 / 28.212, 10);
  expect(application.sizes[1]).toBeCloseTo(1, 10);
  expect(application.sizes[2]).toBeCloseTo(2 - 18.356 / 28.212, 10);
  expect(application.memory.base).toBe(mebibytes(40 + 2 + 1));
  expect(application.memory.perRequest).toBe(Math.round(mebibytes(0.25 + 1 + 0.512)));
  expect(application.memory.cache).toBe(mebibytes(96));
  // Half as much again on the 3.56 of 23.64 core-ms that use the cache.
  expect(application.memory.missPenalty).toBeCloseTo(1 + (0.5 * 3.56) / 23.64, 10);
});

test("a segment that is called twice does its work twice and is in memory once", () => {
  const once = composeApplication(["database-scan"], server);
  const twice = composeApplication(["database-scan", "database-scan"], server);
  expect(twice.phases[1]?.cpu).toBeCloseTo((once.phases[0]?.cpu ?? 0) - 5, 10);
  expect(twice.memory.base).toBe(once.memory.base);
  expect(twice.memory.cache).toBe(once.memory.cache);
  expect(twice.memory.perRequest).toBe(once.memory.perRequest);
});

test("requests whose payloads are all alike have one size", () => {
  expect(composeApplication(["float-operations", "queue-publish"], server).sizes).toEqual([1]);
});

test("other payloads change the work and leave the server as it is configured", () => {
  const before = composeApplication(["float-operations", "database-write"], server);
  const after = withPayloads(before, { ...basePayloads, operations: updatedPayloads.operations });
  expect(before.phases[0]?.cpu).toBeCloseTo(5 + 1 + 20, 9);
  expect(after.phases[0]?.cpu).toBeCloseTo(5 + 1 + 400, 9);
  const { phases: _phases, payloads: _payloads, ...kept } = after;
  expect(before).toMatchObject(kept);
  expect(withPayloads(after, basePayloads)).toEqual(before);
});

test("a name that is no segment, and no name at all, are refused with what would do", () => {
  expect(() => composeApplication(["compressoin"], server)).toThrow(CodedError);
  expect(() => composeApplication(["compressoin"], server)).toThrow(/"compressoin".*compression/);
  expect(() => composeApplication([], server)).toThrow(/at least one segment/);
});
