import { expect, test } from "vitest";
import { bytes, milliseconds, seededRng } from "../../../base/index.ts";
import type { Application } from "../workloads/index.ts";
import { sampleRequest } from "../workloads/index.ts";
import { type BenchConditions, PodBench } from "./pod-bench.ts";

const plain: Application = {
  id: "plain",
  segments: ["plain"],
  phases: [{ segment: "plain", cpu: 60, width: 1, wait: 0, io: bytes(0), network: bytes(0) }],
  sizes: [1],
  sigma: 0,
  threads: 1,
  queue: 1_000,
  timeout: milliseconds(1e9),
  retries: 0,
  memory: { base: bytes(0), perRequest: bytes(0), cache: bytes(0), missPenalty: 1 },
  startup: { mean: milliseconds(0), sigma: 0 },
  warmup: { factor: 1, span: milliseconds(1) },
};

function run(application: Application, options: Partial<BenchConditions> & { arrivals: Iterable<number> }) {
  const latencies: number[] = [];
  const endings = { refused: 0, gaveUp: 0, admitted: 0 };
  const rng = seededRng(1_001);
  const work = rng.fork("work");
  const bench = new PodBench(
    { application, quota: 1, speed: 1, cores: 64, pods: 1, period: 100, ...options },
    {
      rng,
      draw: (into) => sampleRequest(application, work, into),
      watch: {
        done: (latency) => latencies.push(latency),
        gaveUp: () => endings.gaveUp++,
        refused: () => endings.refused++,
        admitted: () => endings.admitted++,
      },
    },
  );
  let last = 0;
  for (const at of options.arrivals) {
    bench.arrive(at);
    last = at;
  }
  bench.finish(last + 1e9);
  return { latencies, ...endings, totals: bench.totals() };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function* poisson(rate: number, count: number): Generator<number> {
  const rng = seededRng(1_002);
  for (let i = 0, at = 0; i < count; i++) {
    at += -Math.log(1 - rng.next()) / rate;
    yield at;
  }
}

test("60 ms of CPU at 0.2 cores take 140 to 220 ms, by when in the period they begin", () => {
  // With r ms of the period left: from 20 on, 20 run now, 20 after r, 20 after r + 100: r + 120. Below, always 220.
  const arrivals = Array.from({ length: 4_000 }, (_, i) => 1_000 * i + ((i * 37) % 100));
  const { latencies } = run(plain, { quota: 0.2, arrivals });
  expect(Math.min(...latencies)).toBeGreaterThanOrEqual(140 - 1e-3);
  expect(Math.max(...latencies)).toBeLessThanOrEqual(220 + 1e-3);
  // r is uniform: 0.2 × 220 + 0.8 × (60 + 120) = 188.
  expect(mean(latencies)).toBeCloseTo(188, 0);
});

test("one thread without a quota waits as Pollaczek and Khinchine say", () => {
  // M/D/1 with 60 ms of service at 0.7: waiting = 0.7 × 60 / (2 × 0.3) = 70 ms.
  const { latencies } = run(plain, { quota: 64, arrivals: poisson(0.7 / 60, 200_000) });
  expect(mean(latencies)).toBeGreaterThan(130 * 0.97);
  expect(mean(latencies)).toBeLessThan(130 * 1.03);
});

test("threads that share one core are processor sharing, whose mean does not depend on the spread", () => {
  // M/G/1-PS at 0.5: 60 / (1 − 0.5) = 120 ms, for any distribution.
  const shared = { ...plain, threads: 256, sigma: 0.8 };
  const { latencies } = run(shared, { quota: 64, cores: 1, arrivals: poisson(0.5 / 60, 200_000) });
  expect(mean(latencies)).toBeGreaterThan(120 * 0.95);
  expect(mean(latencies)).toBeLessThan(120 * 1.05);
});

test("every request ends once: done, refused or given up; and the work done is the work of those who were served", () => {
  const impatient = { ...plain, threads: 2, queue: 3, timeout: milliseconds(400) };
  const count = 5_000;
  const { latencies, refused, gaveUp, admitted, totals } = run(impatient, {
    quota: 0.5,
    pods: 2,
    arrivals: poisson(2 / 60, count),
  });
  expect(refused).toBeGreaterThan(0);
  expect(gaveUp).toBeGreaterThan(0);
  expect(admitted + refused).toBe(count);
  expect(latencies.length + gaveUp).toBe(admitted);
  expect(totals.burnt).toBeCloseTo(60 * latencies.length, 0);
});

test("of two choices the less busy: the tail of four pods is shorter than that of four times one", () => {
  const busy = { ...plain, threads: 8 };
  const p99 = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(0.99 * values.length)] as number;
  const one = p99(run(busy, { quota: 0.5, arrivals: poisson((0.8 * 0.5) / 60, 20_000) }).latencies);
  const four = p99(run(busy, { quota: 0.5, pods: 4, arrivals: poisson((4 * 0.8 * 0.5) / 60, 20_000) }).latencies);
  expect(four).toBeLessThan(0.75 * one);
});
