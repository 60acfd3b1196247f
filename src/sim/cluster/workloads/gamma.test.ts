import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { sampleGamma } from "./gamma.ts";

// Mean and variance are both the shape; the share below the mean tells gamma from other laws with these moments.
test.each([
  [0.3, 0.7265],
  [1, 1 - Math.exp(-1)],
  [5, 0.5595],
])("a gamma of shape %d has that mean and variance, and its share below the mean", (shape, below) => {
  const rng = seededRng(1_000);
  const runs = 200_000;
  let sum = 0;
  let squares = 0;
  let under = 0;
  for (let i = 0; i < runs; i++) {
    const x = sampleGamma(rng, shape);
    sum += x;
    squares += x * x;
    if (x < shape) under += 1;
  }
  const mean = sum / runs;
  expect(mean / shape).toBeCloseTo(1, 1.5);
  expect((squares / runs - mean * mean) / shape).toBeCloseTo(1, 1.3);
  expect(under / runs).toBeCloseTo(below, 2);
});

test("a shape that is not positive is a mistake of the caller", () => {
  expect(() => sampleGamma(seededRng(1), 0)).toThrow(RangeError);
});
