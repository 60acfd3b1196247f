import { expect, test } from "vitest";
import { isolatedLatency, processors } from "../../sim/index.ts";
import type { Scene } from "./scene.ts";
import { drawScene, latencySlo } from "./scene.ts";

const { application }: Scene = drawScene({ seed: 1_000, slot: 0 });

test("a latency SLO is a fifth above the p99 of a pod that is slower than 19 of 20", () => {
  // The 5 % quantile of a lognormal speed with median 0.75 and σ 0.1: 0.75·exp(−0.1645).
  expect(processors.power8).toEqual({ speed: 0.75, sigma: 0.1 });
  const slow = isolatedLatency(application, 0.99, { speed: 0.75 * 0.848319 });
  const { percentile, target } = latencySlo(application, "power8");
  expect(percentile).toBe(0.99);
  expect(target / (1.2 * slow)).toBeCloseTo(1, 5);
  // So it leaves more to be desired than that of the median pod.
  expect(target).toBeGreaterThan(1.2 * isolatedLatency(application, 0.99, { speed: 0.75 }));
});

test("three scenes in four have a latency SLO, and the fourth four fifths of its mean load", () => {
  const kinds = [0, 1, 2, 3].map((slot) => drawScene({ seed: 1_000, slot }));
  expect(kinds.map(({ slo }) => slo.kind)).toEqual(["latency", "latency", "latency", "throughput"]);
  const [first] = kinds as [Scene];
  expect(first.slo).toEqual(latencySlo(first.application, first.processor));
});
