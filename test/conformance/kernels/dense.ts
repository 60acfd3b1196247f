/** Conformance of the dense kernels: products and linear layers. */

import { describe, expect, test } from "vitest";
import { ACT, GEMM, NULL } from "../../../src/learn/tensor/index.ts";
import { at, Bench, dot, EDGE_SIZES, type Expected, expectClose, range, type Subject } from "./harness.ts";

const ACTIVATIONS = {
  none: (x: number) => x,
  relu: (x: number) => Math.max(0, x),
  tanh: Math.tanh,
  sigmoid: (x: number) => 1 / (1 + Math.exp(-x)),
} as const;

/** Rows, inputs, outputs: edges around the tiles (4 rows; 8, 16 columns), and sizes that are packed and blocked. */
const SHAPES: readonly (readonly [number, number, number])[] = [
  [1, 8, 64],
  [1, 64, 5],
  [2, 64, 33],
  [3, 7, 17],
  [4, 1, 9],
  [5, 3, 1],
  [7, 65, 40],
  [64, 13, 64],
  [33, 5, 65],
  [66, 300, 40],
  [9, 257, 529],
];

export function denseSuite(subject: Subject): void {
  describe("linearForward", () => {
    for (const [rows, inputs, outputs] of SHAPES) {
      // Activations are applied to finished sums: small shapes show that as well as large ones.
      const acts =
        rows * inputs * outputs < 20_000 ? (["none", "relu", "tanh", "sigmoid"] as const) : (["relu"] as const);
      for (const act of acts) {
        test(`x·w + b then ${act}, ${rows} rows, ${inputs} to ${outputs}`, () => {
          const bench = new Bench(subject, rows + inputs + outputs);
          const [x, w, b] = [bench.values(rows * inputs), bench.values(inputs * outputs, 0.5), bench.values(outputs)];
          const y = bench.room(rows * outputs);
          bench.kernels.linearForward(bench.put(x), bench.put(w), bench.put(b), y, rows, inputs, outputs, ACT[act]);
          const expected = range(rows * outputs).map((i): Expected => {
            const [row, col] = [Math.floor(i / outputs), i % outputs];
            const sum = dot(at(b, col), inputs, (k) => [at(x, row * inputs + k), at(w, k * outputs + col)]);
            return { value: ACTIVATIONS[act](sum.value), size: sum.size };
          });
          expectClose(bench.take(y, rows * outputs), expected, inputs + 4);
        });
      }
    }

    test("works without a bias", () => {
      const bench = new Bench(subject);
      const y = bench.room(2);
      bench.kernels.linearForward(bench.put([2, 3]), bench.put([10, 20, 30, 40]), NULL, y, 1, 2, 2, ACT.none);
      expect([...bench.take(y, 2)]).toEqual([110, 160]);
    });

    test("keeps NaN and infinity in the rows they came in", () => {
      const bench = new Bench(subject);
      const [rows, inputs, outputs] = [9, 11, 21];
      const x = bench.values(rows * inputs);
      x[2 * inputs + 3] = Number.NaN;
      x[6 * inputs + 1] = Number.POSITIVE_INFINITY;
      const w = bench.values(inputs * outputs).map((v) => Math.abs(v) + 0.1);
      const y = bench.room(rows * outputs);
      bench.kernels.linearForward(bench.put(x), bench.put(w), NULL, y, rows, inputs, outputs, ACT.relu);
      const out = bench.take(y, rows * outputs);
      for (const row of range(rows)) {
        const values = out.subarray(row * outputs, (row + 1) * outputs);
        if (row === 2) expect(values.every(Number.isNaN)).toBe(true);
        else if (row === 6) expect(values.every((v) => v === Number.POSITIVE_INFINITY)).toBe(true);
        else expect(values.every(Number.isFinite)).toBe(true);
      }
    });
  });

  describe("linearBackwardInput", () => {
    for (const [rows, inputs, outputs] of SHAPES) {
      test(`dy·wᵀ, ${rows} rows, ${inputs} to ${outputs}`, () => {
        const bench = new Bench(subject, rows * 3 + inputs + outputs);
        const [dy, w] = [bench.values(rows * outputs), bench.values(inputs * outputs)];
        const dx = bench.room(rows * inputs);
        bench.kernels.linearBackwardInput(bench.put(dy), bench.put(w), dx, rows, inputs, outputs);
        const expected = range(rows * inputs).map((i) => {
          const [row, input] = [Math.floor(i / inputs), i % inputs];
          return dot(0, outputs, (j) => [at(dy, row * outputs + j), at(w, input * outputs + j)]);
        });
        expectClose(bench.take(dx, rows * inputs), expected, outputs + 2);
      });
    }
  });

  describe("linearBackwardParams", () => {
    for (const [rows, inputs, outputs] of SHAPES) {
      test(`adds xᵀ·dy and the column sums, ${rows} rows, ${inputs} to ${outputs}`, () => {
        const bench = new Bench(subject, rows * 5 + inputs + outputs);
        const [x, dy] = [bench.values(rows * inputs), bench.values(rows * outputs)];
        const [dw0, db0] = [bench.values(inputs * outputs), bench.values(outputs)];
        const [dw, db] = [bench.put(dw0), bench.put(db0)];
        bench.kernels.linearBackwardParams(bench.put(x), bench.put(dy), dw, db, rows, inputs, outputs);
        const weights = range(inputs * outputs).map((i) => {
          const [input, col] = [Math.floor(i / outputs), i % outputs];
          return dot(at(dw0, i), rows, (r) => [at(x, r * inputs + input), at(dy, r * outputs + col)]);
        });
        const biases = range(outputs).map((j) => dot(at(db0, j), rows, (r) => [1, at(dy, r * outputs + j)]));
        expectClose(bench.take(dw, inputs * outputs), weights, rows + 2);
        expectClose(bench.take(db, outputs), biases, rows + 2);
      });
    }

    test("leaves the bias alone when there is none", () => {
      const bench = new Bench(subject);
      const dw = bench.put([1, 1]);
      bench.kernels.linearBackwardParams(bench.put([2]), bench.put([3, 4]), dw, NULL, 1, 1, 2);
      expect([...bench.take(dw, 2)]).toEqual([7, 9]);
    });
  });

  describe("gemm", () => {
    for (const size of EDGE_SIZES) {
      for (const flags of range(8)) {
        test(`C = op(A)·op(B) around size ${size} with flags ${flags} and spare columns`, () => {
          const [m, n, k] = [size, (size * 3) % 37 || 2, ((size * 5) % 71) + 1];
          const [transA, transB] = [flags & GEMM.transA, flags & GEMM.transB];
          const [lda, ldb, ldc] = [(transA ? m : k) + 3, (transB ? k : n) + 1, n + 2];
          const bench = new Bench(subject, size * 10 + flags);
          const a = bench.values((transA ? k : m) * lda);
          const b = bench.values((transB ? n : k) * ldb);
          const c0 = bench.values(m * ldc);
          const c = bench.put(c0);
          bench.kernels.gemm(bench.put(a), lda, bench.put(b), ldb, c, ldc, m, n, k, flags);
          const expected = range(m * ldc).map((i): Expected => {
            const [row, col] = [Math.floor(i / ldc), i % ldc];
            if (col >= n) return { value: at(c0, i), size: 0 };
            return dot(flags & GEMM.accumulate ? at(c0, i) : 0, k, (s) => [
              at(a, transA ? s * lda + row : row * lda + s),
              at(b, transB ? col * ldb + s : s * ldb + col),
            ]);
          });
          expectClose(bench.take(c, m * ldc), expected, k + 2);
        });
      }
    }
  });
}
