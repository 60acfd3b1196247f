import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../../../base/index.ts";
import { addProducts, addProductWith, addTimes, dot, factorise, solveColumns, solveFactorised } from "./ridge.ts";

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

const random = (length: number, seed: number) => {
  const rng = seededRng(seed);
  return Float64Array.from({ length }, () => rng.normal());
};
/** Sizes on both sides of the four that are taken together. */
const cases = fc.record({ size: fc.integer({ min: 1, max: 11 }), seed: fc.integer({ min: 0, max: 1e6 }) });

test("sums of products are those of the single terms, in any range of rows", () => {
  fc.assert(
    fc.property(
      cases,
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 9 }),
      ({ size, seed }, from, count) => {
        const [a, b] = [random(18 * size, seed), random(18 * size, seed + 1)];
        const start = random(size * size, seed + 2);
        for (const part of ["lower", "all"] as const) {
          const found = start.slice();
          addProducts(found, { a, b }, { from, to: from + count, size, part });
          found.forEach((value, at) => {
            const [i, j] = [Math.floor(at / size), at % size];
            let expected = start[at]!;
            if (part === "all" || j <= i)
              for (let row = from; row < from + count; row++) expected += a[row * size + i]! * b[row * size + j]!;
            expect(value).toBeCloseTo(expected, 10);
          });
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("all columns at once are solved as each of them alone", () => {
  fc.assert(
    fc.property(cases, ({ size, seed }) => {
      const root = random(size * size, seed);
      const factor = new Float64Array(size * size);
      addProducts(factor, { a: root, b: root }, { from: 0, to: size, size, part: "lower" });
      for (let i = 0; i < size; i++) factor[i * size + i]! += 1;
      expect(factorise(factor, size)).toBe(true);
      const columns = random(size * size, seed + 1);
      const together = columns.slice();
      solveColumns(factor, size, together);
      for (let j = 0; j < size; j++) {
        const alone = Float64Array.from({ length: size }, (_, i) => columns[i * size + j]!);
        solveFactorised(factor, size, alone);
        alone.forEach((value, i) => {
          expect(together[i * size + j]).toBeCloseTo(value, 9);
        });
      }
    }),
    { numRuns: 60 },
  );
});

test("a matrix times numbers is added to the ones behind them; a multiple is added number by number", () => {
  fc.assert(
    fc.property(cases, ({ size, seed }) => {
      const matrix = random(size * size, seed);
      const numbers = random(2 * size, seed + 1);
      const expected = Array.from({ length: size }, (_, i) => {
        let sum = numbers[size + i]!;
        for (let j = 0; j < size; j++) sum += matrix[i * size + j]! * numbers[j]!;
        return sum;
      });
      const found = numbers.slice();
      addProductWith(matrix, found, { at: 0, bt: size, size });
      expect([...found.subarray(0, size)]).toEqual([...numbers.subarray(0, size)]);
      expected.forEach((value, i) => {
        expect(found[size + i]).toBeCloseTo(value, 10);
      });
      const sum = numbers.slice();
      addTimes(sum, found, -2);
      sum.forEach((value, i) => {
        expect(value).toBeCloseTo(numbers[i]! - 2 * found[i]!, 10);
      });
    }),
    { numRuns: 60 },
  );
});
