import fc from "fast-check";
import { expect, test } from "vitest";
import { createNormaliser, createRewardScaler } from "./normaliser.ts";

function normalised(normaliser: ReturnType<typeof createNormaliser>, row: number[]): number[] {
  const values = Float32Array.from(row);
  normaliser.apply(values, { at: 0, rows: 1, stride: row.length });
  return [...values];
}

test("observations come out with the mean taken off and the spread divided out", () => {
  const normaliser = createNormaliser({ size: 2 });
  // Component 0: 1, 3 → mean 2, population variance 1. Component 1: −4, 8 → mean 2, variance 36.
  normaliser.update([1, -4, 3, 8], 2);
  const [a, b] = normalised(normaliser, [3, -4]);
  expect(a).toBeCloseTo(1, 6);
  expect(b).toBeCloseTo(-1, 6);
});

test("only the stated rows of a wider matrix are touched", () => {
  const normaliser = createNormaliser({ size: 1 });
  normaliser.update([-2, 2], 2);
  const matrix = Float32Array.of(9, 4, 9, 9, -6, 9);
  normaliser.apply(matrix, { at: 1, rows: 2, stride: 3 });
  expect([...matrix].map((x) => Math.round(x * 1e6) / 1e6)).toEqual([9, 2, 9, 9, -3, 9]);
});

test("before there is any spread the observation passes unchanged, and far values are clipped", () => {
  const normaliser = createNormaliser({ size: 1, clip: 5 });
  expect(normalised(normaliser, [3])).toEqual([3]);
  normaliser.update([0, 2], 2);
  expect(normalised(normaliser, [1000])).toEqual([5]);
  expect(normalised(normaliser, [-1000])).toEqual([-5]);
});

test("batches merge to the moments of all values together", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 3, maxLength: 30 }), (values) => {
      const normaliser = createNormaliser({ size: 1 });
      normaliser.update(values.slice(0, 2), 2);
      normaliser.update(values.slice(2), values.length - 2);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const squares = values.reduce((a, b) => a + (b - mean) ** 2, 0);
      expect(normaliser.state()[1]).toBeCloseTo(mean, 8);
      expect(normaliser.state()[2]).toBeCloseTo(squares, 4);
    }),
  );
});

test("a restored normaliser answers the same and goes on the same", () => {
  const original = createNormaliser({ size: 2 });
  original.update([1, 2, 3, 5, 8, 13], 3);
  const copy = createNormaliser({ size: 2 });
  copy.restore(original.state());
  expect(normalised(copy, [4, 4])).toEqual(normalised(original, [4, 4]));
  original.update([7, 7], 1);
  copy.update([7, 7], 1);
  expect(copy.state()).toEqual(original.state());
});

test("statistics of another size are refused", () => {
  expect(() => createNormaliser({ size: 3 }).restore(new Float64Array(5))).toThrow(/2 components and 3 are needed/);
});

test("rewards are divided by the spread of the discounted return of their stream", () => {
  const scaler = createRewardScaler({ gamma: 0.5, streams: 2 });
  scaler.observe(2, { stream: 0, isEnd: false }); // return 2
  scaler.observe(4, { stream: 0, isEnd: true }); //  return 1 + 4 = 5, then forgotten
  scaler.observe(2, { stream: 0, isEnd: false }); // return 2 again
  scaler.observe(5, { stream: 1, isEnd: false }); // the other stream starts at 0: return 5
  // Returns 2, 5, 2, 5: variance 2.25, spread 1.5.
  expect(scaler.scale(3)).toBeCloseTo(2, 6);
});

test("a restored reward scaler continues every stream's return", () => {
  const original = createRewardScaler({ gamma: 0.9, streams: 2 });
  original.observe(1, { stream: 0, isEnd: false });
  original.observe(3, { stream: 1, isEnd: false });
  const copy = createRewardScaler({ gamma: 0.9, streams: 2 });
  copy.restore(original.state());
  for (const s of [original, copy]) s.observe(2, { stream: 1, isEnd: false });
  expect(copy.state()).toEqual(original.state());
});
