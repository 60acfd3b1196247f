/**
 * The histogram against hand-worked numbers and against what upstream's own functions answered for random samples
 * (kubernetes/autoscaler 55c37cd5eb, VPA 1.8.0-dev; test/fixtures/fallbacks/vpa.json).
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { milliseconds, minutes, seconds, unwrap } from "../../../base/index.ts";
import { defaultVpaConfig } from "./config.ts";
import type { Histogram, HistogramShape } from "./histogram.ts";
import {
  addSample,
  bucketOf,
  bucketStart,
  copyHistogram,
  emptyHistogram,
  isEmpty,
  loadHistogram,
  mergeHistogram,
  quantile,
  saveHistogram,
  subtractSample,
} from "./histogram.ts";

const base = 1_700_000_000;
const at = (s: number) => seconds(base + s);
const cpu = defaultVpaConfig.cpu.histogram;
const memory = defaultVpaConfig.memory.histogram;
const day = 86_400;

const withSamples = (
  shape: HistogramShape,
  samples: readonly (readonly [value: number, weight: number, s: number])[],
): Histogram => {
  const histogram = emptyHistogram(shape);
  for (const [value, weight, s] of samples) addSample(histogram, shape, { value, weight, at: at(s) });
  return histogram;
};

interface Golden {
  readonly starts: readonly (readonly [number, number])[];
  readonly histograms: readonly {
    readonly mem: boolean;
    readonly hl: number;
    readonly ops: readonly (readonly ["+" | "-", number, number, number])[];
    readonly p: readonly number[];
    readonly p2?: readonly number[];
    readonly cp?: { readonly w: Readonly<Record<string, number>>; readonly total: number; readonly ref: number };
  }[];
}
const golden = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/fallbacks/vpa.json", import.meta.url), "utf8"),
) as Golden;

const closeTo = (value: number, expected: number): void =>
  expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-12 * Math.abs(expected));

describe("buckets", () => {
  test("number 176 for CPU and for memory", () => {
    expect([cpu.buckets, memory.buckets]).toEqual([176, 176]);
  });

  test.each([
    // 0.01 · (1.05^n - 1)/0.05: 0, 0.01, 0.0205, 0.031525
    { value: 0, bucket: 0 },
    { value: 0.0099, bucket: 0 },
    { value: 0.0101, bucket: 1 },
    { value: 0.0204, bucket: 1 },
    { value: 0.0206, bucket: 2 },
    { value: 0.0316, bucket: 3 },
    { value: 1e9, bucket: 175 },
  ])("$value cores are in bucket $bucket", ({ value, bucket }) => {
    expect(bucketOf(cpu, value)).toBe(bucket);
  });

  test("start where the original's do", () => {
    for (const [bucket, [cores, bytesStart]] of golden.starts.entries()) {
      closeTo(bucketStart(cpu, bucket), cores);
      closeTo(bucketStart(memory, bucket), bytesStart);
    }
  });
});

describe("percentiles", () => {
  test("of nothing are 0", () => {
    expect(quantile(emptyHistogram(cpu), cpu, 0.9)).toBe(0);
  });

  test("are the end of the bucket that reaches the share", () => {
    // 0.005 is in [0, 0.01), 0.015 in [0.01, 0.0205), 0.025 in [0.0205, 0.031525)
    const histogram = withSamples(cpu, [
      [0.005, 1, 0],
      [0.015, 1, 0],
      [0.025, 2, 0],
    ]);
    for (const [share, end] of [
      [0.25, 0.01],
      [0.26, 0.0205],
      [0.5, 0.0205],
      [0.51, 0.031525],
      [1, 0.031525],
    ] as const)
      closeTo(quantile(histogram, cpu, share), end);
  });

  test("in the last bucket are its start, because it has no end", () => {
    const histogram = withSamples(cpu, [[5000, 1, 0]]);
    closeTo(quantile(histogram, cpu, 0.5), bucketStart(cpu, 175));
  });

  test("do not see a bucket lighter than epsilon", () => {
    // 0.00005 < 0.0001: the histogram stays empty although it has weight.
    const histogram = withSamples(cpu, [[0.5, 0.00005, 43_200 - (base % day)]]);
    expect(isEmpty(histogram, cpu)).toBe(true);
  });
});

describe("decay", () => {
  test("halves a sample each day: two old ones weigh as much as one of a day later", () => {
    // weights 1 and 1 at day 0 against 2^1 · 1 at day 1: the low ones hold exactly half
    const histogram = withSamples(cpu, [
      [0.005, 1, 0],
      [0.005, 1, 0],
      [5, 1, day],
    ]);
    closeTo(quantile(histogram, cpu, 0.5), 0.01);
    expect(quantile(histogram, cpu, 0.51)).toBeGreaterThan(5);
  });

  test("moves its reference after a hundred half-lives and keeps what is left", () => {
    const histogram = withSamples(cpu, [[1, 1, 0]]);
    const first = histogram.reference ?? 0;
    addSample(histogram, cpu, { value: 2, weight: 1, at: at(102 * day) });
    expect((histogram.reference ?? 0) - first).toBe(102 * day * 1000);
    // 2^-102 of the old sample is below epsilon: only the new one is left.
    expect(quantile(histogram, cpu, 0)).toBe(quantile(histogram, cpu, 1));
  });

  test("keeps its reference at a multiple of the half-life", () => {
    const histogram = withSamples(cpu, [[1, 1, 0]]);
    expect((histogram.reference ?? 1) % (day * 1000)).toBe(0);
    expect(Math.abs((histogram.reference ?? 0) - at(0))).toBeLessThanOrEqual((day * 1000) / 2);
  });
});

test("a sample that is taken back leaves no trace", () => {
  const histogram = withSamples(cpu, [
    [1, 1, 0],
    [4, 1, 3600],
  ]);
  subtractSample(histogram, cpu, { value: 4, weight: 1, at: at(3600) });
  const alone = withSamples(cpu, [[1, 1, 0]]);
  expect(histogram.max).toBe(alone.max);
  expect(quantile(histogram, cpu, 1)).toBe(quantile(alone, cpu, 1));
});

test("merging is adding the samples of both, whatever their references", () => {
  const left = withSamples(cpu, [
    [1, 1, 0],
    [2, 1, 10 * day],
  ]);
  const right = withSamples(cpu, [[0.5, 3, 130 * day]]);
  const both = withSamples(cpu, [
    [1, 1, 0],
    [2, 1, 10 * day],
    [0.5, 3, 130 * day],
  ]);
  const merged = copyHistogram(left);
  mergeHistogram(merged, cpu, right);
  expect(merged.total).toBeCloseTo(both.total, 12);
  expect([merged.min, merged.max]).toEqual([both.min, both.max]);
  expect(left.total).not.toBe(merged.total);
  const other = copyHistogram(right);
  mergeHistogram(other, cpu, left);
  expect(other.total).toBeCloseTo(both.total, 12);
});

test("48 random histories give the percentiles and checkpoints of the original", () => {
  const shares = [0, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 1];
  expect(golden.histograms).toHaveLength(48);
  for (const { mem, hl, ops, p, cp, p2 } of golden.histograms) {
    const shape = { ...(mem ? memory : cpu), halfLife: seconds(hl) };
    const histogram = emptyHistogram(shape);
    for (const [op, value, weight, s] of ops)
      (op === "+" ? addSample : subtractSample)(histogram, shape, { value, weight, at: at(s) });
    for (const [index, share] of shares.entries()) closeTo(quantile(histogram, shape, share), p[index] ?? Number.NaN);
    if (cp === undefined || p2 === undefined) continue;
    const saved = saveHistogram(histogram);
    expect(saved.bucketWeights).toEqual(cp.w);
    expect(saved.referenceTimestamp).toBe((base + cp.ref) * 1000);
    closeTo(saved.totalWeight, cp.total);
    const loaded = unwrap(loadHistogram(JSON.parse(JSON.stringify(saved)) as typeof saved, shape));
    for (const [index, share] of shares.entries()) closeTo(quantile(loaded, shape, share), p2[index] ?? Number.NaN);
  }
});

describe("a checkpoint", () => {
  test("scales the heaviest bucket to 10000", () => {
    // 0.1 against 1 at the same instant
    const saved = saveHistogram(
      withSamples(cpu, [
        [0.005, 0.1, 0],
        [5, 1, 0],
      ]),
    );
    expect(Object.values(saved.bucketWeights)).toEqual([1000, 10_000]);
  });

  test("of an empty histogram loads as one", () => {
    const saved = saveHistogram(emptyHistogram(cpu));
    expect(saved.bucketWeights).toEqual({});
    expect(isEmpty(unwrap(loadHistogram(saved, cpu)), cpu)).toBe(true);
  });

  test.each([
    { what: "a bucket that does not exist", bucketWeights: { "176": 5 }, totalWeight: 1 },
    { what: "a negative bucket", bucketWeights: { "-1": 5 }, totalWeight: 1 },
    { what: "a bucket that is no number", bucketWeights: { first: 5 }, totalWeight: 1 },
    { what: "half a weight", bucketWeights: { "3": 0.5 }, totalWeight: 1 },
    { what: "a negative total", bucketWeights: { "3": 5 }, totalWeight: -1 },
    { what: "a total that is no number", bucketWeights: { "3": 5 }, totalWeight: Number.NaN },
  ])("with $what is refused", ({ bucketWeights, totalWeight }) => {
    expect(
      loadHistogram(
        { referenceTimestamp: milliseconds(0), bucketWeights: bucketWeights as Record<string, number>, totalWeight },
        cpu,
      ),
    ).toMatchObject({
      ok: false,
      failure: { code: "vpa.checkpoint" },
    });
  });
});

test("half-lives that do not divide a day are counted from the year 1", () => {
  const odd = { ...cpu, halfLife: minutes(420) };
  const { reference } = withSamples(odd, [[1, 1, 0]]);
  // 1,700,000,000 s is 63,835,596,800 s after year 1: 2,533,158.6 times 25,200 s, so the 2,533,159th is nearest.
  expect(withSamples(odd, [[1, 1, 0]]).reference).toBe(reference);
  expect(((reference ?? 0) + 62_135_596_800_000) % (25_200 * 1000)).toBe(0);
});
