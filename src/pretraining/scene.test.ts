import { expect, test } from "vitest";
import { isolatedLatency, processors } from "../sim/index.ts";
import type { Scene } from "./scene.ts";
import { drawScene, latencySlo, pastOf } from "./scene.ts";

const { application }: Scene = drawScene({ seed: 1_000, slot: 0 });

test("a latency SLO is a fifth above the p99 of a pod that is slower than 19 of 20", () => {
  // The 5 % quantile of a lognormal speed with median 0.75 and σ 0.1: 0.75·exp(−0.1645).
  expect(processors.power8).toEqual({ speed: 0.75, sigma: 0.1 });
  const slow = isolatedLatency(application, 0.99, { speed: 0.75 * 0.848319 });
  const { quantile, target } = latencySlo(application, "power8");
  expect(quantile).toBe(0.99);
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

test("a scene whose days differ has two weeks to live in and a week before them, and is the same scene otherwise", () => {
  const [plain, varied] = (["repeated", "varied"] as const).map((days) =>
    drawScene({ seed: 1_000, slot: 0, days }),
  ) as [Scene, Scene];
  expect(varied.application).toBe(plain.application);
  expect(varied.slo).toEqual(plain.slo);
  const DAY = 1_440;
  const days = Array.from({ length: 21 }, (_, d) => varied.load.perMinute.subarray(d * DAY, (d + 1) * DAY).join());
  expect(new Set(days).size).toBe(21);
  expect(pastOf(varied)).toEqual({ perMinute: varied.load.perMinute.subarray(14 * DAY), from: 14 * DAY });
  expect(pastOf(plain)).toEqual({ perMinute: plain.load.perMinute, from: 0 });
  expect(plain.pastDays).toBeUndefined();
});
