import { DDSketch } from "@datadog/sketches-js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { PercentileSketch } from "./sketch.ts";

const quantiles = [0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1];
const exact = (values: readonly number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))] as number;

function sketchOf(values: readonly number[], relativeError = 0.01): PercentileSketch {
  const sketch = new PercentileSketch({ relativeError });
  for (const value of values) sketch.add(value);
  return sketch;
}

test("every quantile of any values is within the relative error of the exact one", () => {
  const value = fc.oneof(
    fc.double({ min: 1e-7, max: 1e9, noNaN: true }),
    fc.double({ min: -1e9, max: -1e-7, noNaN: true }),
    fc.constant(0),
    fc.integer({ min: -50, max: 50 }),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 300 }), (values) => {
      const sketch = sketchOf(values);
      for (const q of quantiles) {
        const truth = exact(values, q);
        expect(Math.abs((sketch.quantile(q) as number) - truth)).toBeLessThanOrEqual(Math.abs(truth) * (0.01 + 1e-12));
      }
    }),
    { numRuns: 200, seed: 7 },
  );
});

test("merging gives the very sketch that one stream would have given", () => {
  const rng = seededRng(1);
  const values = Array.from({ length: 5_000 }, () => Math.exp(3 * rng.normal()) - 0.5);
  const merged = sketchOf(values.slice(0, 1_000));
  const other = sketchOf(values.slice(1_000));
  const before = JSON.stringify(other.state());
  merged.merge(other);
  const whole = sketchOf(values);
  expect(merged.state().positive).toEqual(whole.state().positive);
  expect(merged.state().negative).toEqual(whole.state().negative);
  expect(merged.count).toBe(5_000);
  expect(JSON.stringify(other.state())).toBe(before);
});

test("it finds the quantiles that an independent implementation finds", () => {
  const rng = seededRng(2);
  const ours = new PercentileSketch({ relativeError: 0.02 });
  const peer = new DDSketch({ relativeAccuracy: 0.02 });
  for (let i = 0; i < 20_000; i++) {
    const latency = Math.exp(rng.normal());
    ours.add(latency);
    peer.accept(latency);
  }
  for (const q of [0.5, 0.9, 0.99, 0.999]) {
    const found = ours.quantile(q) as number;
    expect(Math.abs(found / peer.getValueAtQuantile(q) - 1)).toBeLessThan(0.041);
  }
});

test("the state survives a trip through JSON", () => {
  const sketch = sketchOf([-3, 0, 1.5, 1e6, 2e-5]);
  const back = PercentileSketch.restore(JSON.parse(JSON.stringify(sketch.state())));
  expect(back.state()).toEqual(sketch.state());
  back.add(7);
  expect(back.count).toBe(6);
  expect([back.min, back.max]).toEqual([-3, 1e6]);
});

test("when buckets run out the smallest values share one and high percentiles keep their error", () => {
  const sketch = new PercentileSketch({ relativeError: 0.01, maxBuckets: 200 });
  const values = Array.from({ length: 2_000 }, (_, i) => 1.01 ** i);
  // Falling order makes late small values meet full buckets; rising order makes early ones collapse.
  for (const value of [...values].reverse()) sketch.add(value);
  const rising = new PercentileSketch({ relativeError: 0.01, maxBuckets: 200 });
  for (const value of values) rising.add(value);
  expect(sketch.state().positive.length).toBeLessThanOrEqual(200);
  expect(rising.state().positive).toEqual(sketch.state().positive);
  for (const q of [0.95, 0.99, 1]) {
    expect(Math.abs((sketch.quantile(q) as number) / exact(values, q) - 1)).toBeLessThan(0.01);
  }
  expect(sketch.count).toBe(2_000);
});

test("a value added n times weighs as n values", () => {
  const sketch = new PercentileSketch();
  sketch.add(10, 99);
  sketch.add(1000, 1);
  expect(sketch.count).toBe(100);
  expect(sketch.sum).toBe(1990);
  expect(sketch.quantile(0.98)).toBeCloseTo(10, 0);
  expect(sketch.quantile(1)).toBe(1000);
});

test("an empty sketch has no quantile, and what is not a number is refused", () => {
  const sketch = new PercentileSketch();
  expect(sketch.quantile(0.5)).toBeUndefined();
  expect(sketch.min).toBeUndefined();
  expect(() => sketch.add(Number.NaN)).toThrow("finite values, got NaN");
  expect(() => sketch.quantile(99)).toThrow("from 0 to 1");
});

test("sketches of different error do not merge", () => {
  expect(() =>
    new PercentileSketch({ relativeError: 0.01 }).merge(new PercentileSketch({ relativeError: 0.02 })),
  ).toThrow("build both with the same");
});
