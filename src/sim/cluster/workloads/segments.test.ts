import fc from "fast-check";
import { expect, test } from "vitest";
import { basePayloads, updatedPayloads } from "./calibration.ts";
import { payloadsOf, segmentOf, segments } from "./segments.ts";

test("there are sixteen segments, and every kind of sensitivity and of payload is among them", () => {
  expect(segments).toHaveLength(16);
  expect(new Set(segments.map(({ name }) => name)).size).toBe(16);
  expect([...new Set(segments.map(({ sensitivity }) => sensitivity))].sort()).toEqual([
    "concurrency",
    "io",
    "memory",
    "network",
    "parallel-cpu",
    "serial-cpu",
  ]);
  expect(new Set(segments.flatMap(({ payload }) => payload ?? []))).toEqual(new Set(Object.keys(basePayloads)));
});

test("compression of 256 kB costs 1 ms and 55 µs per kB, and buffers of 1 MiB and 2 kB per kB", () => {
  expect(segmentOf("compression")?.work(256)).toEqual({
    cpu: 1 + 0.055 * 256,
    width: 1,
    wait: 0,
    io: 0,
    network: 0,
    memory: (1 + 2e-3 * 256) * 1_048_576,
    cache: 0,
  });
});

test("a model three times as wide multiplies the products' work by 27 and leaves the rest", () => {
  const model = segmentOf("ml-inference");
  const around = 20;
  const narrow = (model?.work(50).cpu ?? 0) - around;
  expect(narrow).toBeCloseTo(6, 10);
  expect((model?.work(150).cpu ?? 0) - around).toBeCloseTo(27 * narrow, 9);
});

test("sensitivities are what they are called: kinds differ in width, waiting, traffic and cache", () => {
  for (const segment of segments) {
    const work = segment.work(payloadsOf(segment)[0] ?? 1);
    switch (segment.sensitivity) {
      case "serial-cpu":
        expect([work.width, work.wait, work.cache]).toEqual([1, 0, 0]);
        break;
      case "parallel-cpu":
        expect(work.width).toBeGreaterThan(1);
        break;
      case "memory":
        // Either a cache that saves CPU, or buffers that outgrow the file.
        expect(segment.missPenalty > 1.5 || work.memory > 3 * 1_048_576).toBe(true);
        break;
      case "io":
        expect(work.io).toBeGreaterThan(0);
        expect(work.wait).toBeGreaterThan(0);
        break;
      case "network":
        expect(work.network).toBeGreaterThan(100_000);
        break;
      case "concurrency":
        // A worker is held at least twice as long as it computes: threads limit it, cores do not.
        expect(work.wait).toBeGreaterThanOrEqual(2 * work.cpu);
        break;
    }
  }
});

test("more payload never means less work, and everything stays positive and finite", () => {
  for (const segment of segments) {
    const ceiling = segment.payload === null ? 1 : Math.max(...updatedPayloads[segment.payload]);
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const small = segment.work(Math.min(a, b) * ceiling);
        const large = segment.work(Math.max(a, b) * ceiling);
        for (const key of ["cpu", "wait", "io", "network", "memory", "cache"] as const) {
          expect(large[key]).toBeGreaterThanOrEqual(small[key]);
          expect(Number.isFinite(large[key]) && small[key] >= 0).toBe(true);
        }
        expect(small.cpu).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  }
});
