/** Conformance of the kernels over single elements, among them the accuracy of tanh and the sigmoid. */

import { describe, expect, test } from "vitest";
import { ACT } from "../../../src/learn/tensor/index.ts";
import { at, Bench, EDGE_SIZES, expectClose, plain, range, type Subject } from "./harness.ts";

/** Distance in units of the last place of a float32 near the exact value. */
function unitsOff(actual: number, exact: number): number {
  const unit = 2 ** (Math.max(-126, Math.floor(Math.log2(Math.abs(exact)))) - 23);
  return Math.abs(actual - exact) / unit;
}

const sigmoid = (x: number) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

export function elementwiseSuite(subject: Subject): void {
  const run = (x: Float32Array, act: number): Float32Array => {
    const bench = new Bench(subject);
    const block = bench.put(x);
    bench.kernels.activationForward(block, block, x.length, act);
    return bench.take(block, x.length);
  };

  describe("activationForward", () => {
    for (const [name, exact, limit] of [
      ["tanh", Math.tanh, 30],
      ["sigmoid", sigmoid, 87],
    ] as const) {
      test(`${name} is within 2 units in the last place everywhere`, () => {
        // Evenly over the range, and evenly over the exponents down to where the function is its own argument.
        const even = range(40_001).map((i) => (i / 20_000 - 1) * limit);
        const small = range(20_000).flatMap((i) => [1, -1].map((sign) => sign * 2 ** (4 - i / 500)));
        const x = Float32Array.from([...even, ...small]);
        const y = run(x, ACT[name]);
        let worst = 0;
        for (let i = 0; i < x.length; i++) {
          const truth = exact(at(x, i));
          if (truth !== 0) worst = Math.max(worst, unitsOff(at(y, i), truth));
          else expect(at(y, i)).toBe(0);
        }
        expect(worst).toBeLessThanOrEqual(2);
      });
    }

    test("the ends of the range are exact and NaN stays NaN", () => {
      const ends = Float32Array.of(Number.NEGATIVE_INFINITY, -1e30, 0, 1e30, Number.POSITIVE_INFINITY, Number.NaN);
      expect([...run(ends, ACT.tanh)]).toEqual([-1, -1, 0, 1, 1, Number.NaN]);
      expect([...run(ends, ACT.sigmoid)]).toEqual([0, 0, 0.5, 1, 1, Number.NaN]);
      expect([...run(Float32Array.of(-2, 0, 3, Number.NaN), ACT.relu)]).toEqual([0, 0, 3, Number.NaN]);
    });

    test("tanh is odd to the bit", () => {
      const x = Float32Array.from(range(999), (i) => (i + 1) / 100);
      const [up, down] = [
        run(x, ACT.tanh),
        run(
          x.map((v) => -v),
          ACT.tanh,
        ),
      ];
      expect([...down]).toEqual([...up].map((v) => -v));
    });
  });

  describe("activationBackward", () => {
    for (const count of EDGE_SIZES) {
      for (const act of ["none", "relu", "tanh", "sigmoid"] as const) {
        test(`dy times the slope of ${act}, in place, ${count} elements`, () => {
          const bench = new Bench(subject, count);
          const y = bench.values(count).map((v) => (act === "sigmoid" ? Math.abs(v) : v));
          const dy = bench.values(count);
          const block = bench.put(dy);
          bench.kernels.activationBackward(bench.put(y), block, block, count, ACT[act]);
          const slope = {
            none: () => 1,
            relu: (v: number) => (v > 0 ? 1 : 0),
            tanh: (v: number) => 1 - v * v,
            sigmoid: (v: number) => v * (1 - v),
          };
          const expected = range(count).map((i) => at(dy, i) * slope[act](at(y, i)));
          expectClose(bench.take(block, count), plain(expected), 4);
        });
      }
    }
  });

  describe("vector updates", () => {
    for (const count of EDGE_SIZES) {
      test(`axpy, scale and sumSquares of ${count} elements`, () => {
        const bench = new Bench(subject, count);
        const [x, y] = [bench.values(count), bench.values(count)];
        const [px, py] = [bench.put(x), bench.put(y)];
        const squares = x.reduce((sum, v) => sum + v * v, 0);
        expect(bench.kernels.sumSquares(px, count)).toBeCloseTo(squares, 12);
        bench.kernels.axpy(px, py, count, -0.75);
        expectClose(
          bench.take(py, count),
          plain(
            range(count).map((i) => at(y, i) - 0.75 * at(x, i)),
            2,
          ),
          2,
        );
        bench.kernels.scale(px, count, 3);
        expectClose(
          bench.take(px, count),
          plain(
            range(count).map((i) => 3 * at(x, i)),
            3,
          ),
          1,
        );
      });
    }

    test("sumSquares adds in double precision", () => {
      // A million ones and one 2^-13: the square 2^-26 would vanish in a float32 sum.
      const bench = new Bench(subject);
      const x = new Float32Array(1_000_001).fill(1);
      x[0] = 2 ** -13;
      expect(bench.kernels.sumSquares(bench.put(x), x.length)).toBe(1_000_000 + 2 ** -26);
    });
  });
}
