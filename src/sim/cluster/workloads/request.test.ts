import { expect, test } from "vitest";
import { bytes, milliseconds, seededRng } from "../../../base/index.ts";
import type { Application, Phase } from "./application.ts";
import { isolatedLatency, meanWork, requestLength, sampleRequest } from "./request.ts";

const phase = (cpu: number, wait: number, width = 1): Phase => ({
  segment: "by hand",
  cpu,
  width,
  wait,
  io: bytes(0),
  network: bytes(0),
});

const application = (phases: readonly Phase[], given: Partial<Application> = {}): Application => ({
  id: "by hand",
  segments: phases.map(({ segment }) => segment),
  phases,
  sizes: [1],
  sigma: 0,
  threads: 4,
  queue: 16,
  timeout: milliseconds(1_000),
  retries: 0,
  memory: { base: bytes(1), perRequest: bytes(1), cache: bytes(0), missPenalty: 1 },
  startup: { mean: milliseconds(1_000), sigma: 0 },
  warmup: { factor: 1, span: milliseconds(0) },
  ...given,
});

test("without spread a request is its phases, times its size", () => {
  const into = new Float64Array(4);
  const plain = application([phase(10, 5), phase(3, 0)]);
  expect(requestLength(plain)).toBe(4);
  expect(sampleRequest(plain, seededRng(1), into)).toBe(1);
  expect([...into]).toEqual([10, 5, 3, 0]);
  expect(sampleRequest({ ...plain, sizes: [0.5] }, seededRng(1), into)).toBe(0.5);
  expect([...into]).toEqual([5, 2.5, 1.5, 0]);
});

test("requests have the mean of their phases and the variance of size times lognormal", () => {
  const sizes = [0.5, 1, 1.5];
  const sigma = 0.4;
  const spread = application([phase(20, 8)], { sizes, sigma });
  const rng = seededRng(1_000);
  const into = new Float64Array(2);
  const runs = 200_000;
  const sums = { cpu: 0, cpuSquared: 0, wait: 0, product: 0, size: 0 };
  for (let i = 0; i < runs; i++) {
    sums.size += sampleRequest(spread, rng, into);
    const [cpu = 0, wait = 0] = into;
    sums.cpu += cpu;
    sums.cpuSquared += cpu * cpu;
    sums.wait += wait;
    sums.product += cpu * wait;
  }
  // E[s²] = (0.25 + 1 + 2.25) / 3, and a lognormal factor of mean 1 has E[x²] = exp(σ²).
  const sizeSquared = 3.5 / 3;
  expect(sums.size / runs).toBeCloseTo(1, 2);
  expect(sums.cpu / runs / 20).toBeCloseTo(1, 2);
  expect(sums.wait / runs / 8).toBeCloseTo(1, 2);
  expect(sums.cpuSquared / runs / 400 / (sizeSquared * Math.exp(sigma ** 2))).toBeCloseTo(1, 1.7);
  // CPU and waiting share the size and nothing else: E[cpu·wait] = 20 · 8 · E[s²].
  expect(sums.product / runs / 160 / sizeSquared).toBeCloseTo(1, 1.7);
});

test("the same stream gives the same requests", () => {
  const spread = application([phase(20, 8), phase(0, 3)], { sizes: [0.5, 1.5], sigma: 0.3 });
  const draw = () => {
    const rng = seededRng(9);
    const into = new Float64Array(4);
    return Array.from({ length: 20 }, () => [sampleRequest(spread, rng, into), ...into]);
  };
  expect(draw()).toEqual(draw());
});

test("mean work is the sum over phases", () => {
  expect(meanWork(application([phase(10, 5), phase(3, 0.5)]))).toEqual({ cpu: 13, wait: 5.5 });
});

test("alone, a request divides its CPU among the phase's threads at the processor's speed", () => {
  const wide = application([phase(40, 5, 4), phase(6, 2)]);
  expect(isolatedLatency(wide, 0.99)).toBe(40 / 4 + 5 + 6 + 2);
  expect(isolatedLatency(wide, 0.99, { speed: 2 })).toBe(40 / 8 + 5 + 3 + 2);
  expect(isolatedLatency(wide, 0.99, { cores: 2 })).toBe(40 / 2 + 5 + 6 + 2);
});

test("the isolated percentiles of one phase are the lognormal's", () => {
  const sigma = 0.5;
  const spread = application([phase(30, 0)], { sigma });
  const quantile = (z: number) => 30 * Math.exp(sigma * z - sigma ** 2 / 2);
  expect(isolatedLatency(spread, 0.5) / quantile(0)).toBeCloseTo(1, 1.5);
  expect(isolatedLatency(spread, 0.99) / quantile(2.3263)).toBeCloseTo(1, 1.3);
});
