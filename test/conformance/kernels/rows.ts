/** Conformance of softmax and layer normalisation. */

import { describe, expect, test } from "vitest";
import { at, Bench, EDGE_SIZES, expectClose, plain, range, type Subject } from "./harness.ts";

const ROWS = 3;

/** f on each row, joined. */
function byRow(cols: number, f: (row: number) => readonly number[]): number[] {
  return range(ROWS).flatMap((row) => {
    const out = f(row);
    if (out.length !== cols) throw new Error("a row has lost elements");
    return [...out];
  });
}

const rowOf = (values: ArrayLike<number>, cols: number, row: number) =>
  range(cols).map((j) => at(values, row * cols + j));
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

function softmax(x: readonly number[]): number[] {
  const exps = x.map((v) => Math.exp(v));
  return exps.map((e) => e / sum(exps));
}

function normalise(x: readonly number[], eps: number): { normal: number[]; mean: number; inverse: number } {
  const m = mean(x);
  const inverse = 1 / Math.sqrt(mean(x.map((v) => (v - m) ** 2)) + eps);
  return { normal: x.map((v) => (v - m) * inverse), mean: m, inverse };
}

export function rowsSuite(subject: Subject): void {
  describe("softmax", () => {
    for (const cols of EDGE_SIZES) {
      test(`forward and backward over rows of ${cols}, in place`, () => {
        const bench = new Bench(subject, cols);
        const [x, dy] = [bench.values(ROWS * cols, 4), bench.values(ROWS * cols)];
        const y = bench.put(x);
        bench.kernels.softmaxForward(y, y, ROWS, cols);
        const exact = byRow(cols, (row) => softmax(rowOf(x, cols, row)));
        // Relative to the value itself: 8 roundings for the exponential's argument of up to 8.
        expectClose(
          bench.take(y, ROWS * cols),
          exact.map((value) => ({ value, size: value })),
          16 + cols,
        );
        const dx = bench.put(dy);
        bench.kernels.softmaxBackward(y, dx, dx, ROWS, cols);
        const back = byRow(cols, (row) => {
          const [p, d] = [rowOf(exact, cols, row), rowOf(dy, cols, row)];
          const dotted = sum(p.map((v, j) => v * at(d, j)));
          return p.map((v, j) => v * (at(d, j) - dotted));
        });
        expectClose(bench.take(dx, ROWS * cols), plain(back), 16 + cols);
      });
    }

    test("is not moved by large arguments and gives 0 for minus infinity", () => {
      const bench = new Bench(subject);
      const y = bench.put([1e4, 1e4 + Math.fround(Math.LN2), Number.NEGATIVE_INFINITY, -1e30]);
      bench.kernels.softmaxForward(y, y, 1, 4);
      const out = bench.take(y, 4);
      expect(at(out, 0)).toBeCloseTo(1 / 3, 3);
      expect([at(out, 2), at(out, 3)]).toEqual([0, 0]);
    });

    test("a NaN spoils its own row only", () => {
      const bench = new Bench(subject);
      const y = bench.put([0, Number.NaN, 0, 0, 0, 0]);
      bench.kernels.softmaxForward(y, y, 2, 3);
      const out = [...bench.take(y, 6)];
      expect(out.slice(0, 3).every(Number.isNaN)).toBe(true);
      expect(out.slice(3)).toEqual([Math.fround(1 / 3), Math.fround(1 / 3), Math.fround(1 / 3)]);
    });
  });

  describe("layer norm", () => {
    for (const cols of EDGE_SIZES.filter((size) => size > 1)) {
      test(`forward and backward over rows of ${cols}, in place`, () => {
        const eps = 1e-5;
        const bench = new Bench(subject, cols);
        const [x, dy] = [bench.values(ROWS * cols, 3), bench.values(ROWS * cols)];
        const [gamma, beta] = [bench.values(cols), bench.values(cols)];
        const [dgamma0, dbeta0] = [bench.values(cols), bench.values(cols)];
        const [px, pg, pb] = [bench.put(x), bench.put(gamma), bench.put(beta)];
        const [y, saved] = [bench.room(ROWS * cols), bench.room(ROWS * 2)];
        bench.kernels.layerNormForward(px, pg, pb, y, saved, ROWS, cols, eps);
        const rows = range(ROWS).map((row) => normalise(rowOf(x, cols, row), eps));
        const normal = (row: number, j: number) => at(rows[row]?.normal ?? [], j);
        const forward = byRow(cols, (row) => range(cols).map((j) => normal(row, j) * at(gamma, j) + at(beta, j)));
        // A narrow row can have nearly equal elements, whose differences lose digits: judge by the inverse deviation.
        const spread = 4 * Math.max(1, ...rows.map((r) => r.inverse));
        expectClose(bench.take(y, ROWS * cols), plain(forward, spread), 8 + cols);
        const kept = rows.flatMap((r) => [r.mean, r.inverse]);
        expectClose(bench.take(saved, ROWS * 2), plain(kept, spread * spread), 8 + cols);

        const [dx, dgamma, dbeta] = [bench.put(dy), bench.put(dgamma0), bench.put(dbeta0)];
        bench.kernels.layerNormBackward(px, pg, saved, dx, dx, dgamma, dbeta, ROWS, cols);
        const down = (row: number, j: number) => at(dy, row * cols + j);
        const back = byRow(cols, (row) => {
          const g = range(cols).map((j) => down(row, j) * at(gamma, j));
          const [g0, g1] = [mean(g), mean(g.map((v, j) => v * normal(row, j)))];
          return g.map((v, j) => (rows[row]?.inverse ?? 0) * (v - g0 - normal(row, j) * g1));
        });
        expectClose(bench.take(dx, ROWS * cols), plain(back, spread * spread), 16 + cols);
        const gains = range(cols).map((j) => at(dgamma0, j) + sum(range(ROWS).map((r) => down(r, j) * normal(r, j))));
        const shifts = range(cols).map((j) => at(dbeta0, j) + sum(range(ROWS).map((r) => down(r, j))));
        expectClose(bench.take(dgamma, cols), plain(gains, spread), 16 + cols);
        expectClose(bench.take(dbeta, cols), plain(shifts, 4), 16);
      });
    }
  });
}
