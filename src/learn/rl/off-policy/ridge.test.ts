import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { dot, factorise, solveFactorised } from "./ridge.ts";

test("a system of two by hand", () => {
  // [4 2; 2 5]·[1; −2] = [0; −8], and its factor is [2 0; 1 2].
  const matrix = Float64Array.of(4, 0, 2, 5);
  expect(factorise(matrix, 2)).toBe(true);
  expect([matrix[0], matrix[2], matrix[3]]).toEqual([2, 1, 2]);
  const b = Float64Array.of(0, -8);
  solveFactorised(matrix, 2, b);
  expect([...b]).toEqual([1, -2]);
});

test("a matrix that is not positive is refused", () => {
  expect(factorise(Float64Array.of(1, 0, 2, 1), 2)).toBe(false);
});

test("solutions satisfy their equations, whatever positive matrix", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 1e6 }), (size, seed) => {
      const rng = seededRng(seed);
      const root = Float64Array.from({ length: size * size }, () => rng.normal());
      const matrix = Float64Array.from({ length: size * size }, (_, i) => {
        const [row, col] = [Math.floor(i / size), i % size];
        return dot(root, root, { at: row * size, bt: col * size, size }) + (row === col ? 1 : 0);
      });
      const b = Float64Array.from({ length: size }, () => rng.normal());
      const [factor, x] = [matrix.slice(), b.slice()];
      expect(factorise(factor, size)).toBe(true);
      solveFactorised(factor, size, x);
      for (let row = 0; row < size; row++) expect(dot(matrix, x, { at: row * size, size })).toBeCloseTo(b[row]!, 8);
    }),
    { numRuns: 50 },
  );
});
