/** Conformance of the optimisers' steps. */

import { describe, expect, test } from "vitest";
import { NULL } from "../../../src/learn/tensor/index.ts";
import { at, Bench, EDGE_SIZES, expectClose, plain, range, type Subject } from "./harness.ts";

export function optimisersSuite(subject: Subject): void {
  describe("adam", () => {
    for (const count of EDGE_SIZES) {
      test(`twenty steps over ${count} parameters follow the published formulas`, () => {
        const [lr, beta1, beta2, eps, weightDecay] = [0.01, 0.9, 0.999, 1e-8, 0.1];
        const bench = new Bench(subject, count);
        const start = bench.values(count);
        const [p, m, v] = [bench.put(start), bench.put(new Float32Array(count)), bench.put(new Float32Array(count))];
        const g = bench.room(count);
        const [ep, em, ev] = [Array.from(start), range(count).map(() => 0), range(count).map(() => 0)];
        for (const t of range(20).map((i) => i + 1)) {
          const gradient = bench.values(count);
          bench.kernels.memory.f32.set(gradient, g >> 2);
          const step = lr / (1 - beta1 ** t);
          const root = 1 / Math.sqrt(1 - beta2 ** t);
          bench.kernels.adam(p, g, m, v, count, step, beta1, beta2, eps, root, lr * weightDecay);
          for (const i of range(count)) {
            em[i] = beta1 * at(em, i) + (1 - beta1) * at(gradient, i);
            ev[i] = beta2 * at(ev, i) + (1 - beta2) * at(gradient, i) ** 2;
            const mHat = at(em, i) / (1 - beta1 ** t);
            const vHat = at(ev, i) / (1 - beta2 ** t);
            ep[i] = at(ep, i) - lr * weightDecay * at(ep, i) - (lr * mHat) / (Math.sqrt(vHat) + eps);
          }
        }
        expectClose(bench.take(m, count), plain(em), 40);
        expectClose(bench.take(v, count), plain(ev), 40);
        expectClose(bench.take(p, count), plain(ep), 60);
      });
    }

    test("1 − β₂ is formed in double precision", () => {
      // In float32, 1 − 0.999 would be 0.00100005: five digits off.
      const bench = new Bench(subject);
      const [p, g, m, v] = [bench.put([0]), bench.put([1]), bench.put([0]), bench.put([0])];
      bench.kernels.adam(p, g, m, v, 1, 0.1, 0.9, 0.999, 1e-8, 1, 0);
      expect(at(bench.take(v, 1), 0)).toBeCloseTo(0.001, 9);
    });
  });

  describe("sgd", () => {
    for (const count of EDGE_SIZES) {
      test(`with momentum and decay over ${count} parameters`, () => {
        const bench = new Bench(subject, count);
        const [p0, g0, v0] = [bench.values(count), bench.values(count), bench.values(count)];
        const [p, g, v] = [bench.put(p0), bench.put(g0), bench.put(v0)];
        bench.kernels.sgd(p, g, v, count, 0.1, 0.9, 0.01);
        const speed = range(count).map((i) => 0.9 * at(v0, i) + at(g0, i) + 0.01 * at(p0, i));
        expectClose(bench.take(v, count), plain(speed, 2), 4);
        expectClose(
          bench.take(p, count),
          plain(
            range(count).map((i) => at(p0, i) - 0.1 * at(speed, i)),
            2,
          ),
          4,
        );
      });
    }

    test("needs no velocity when there is no momentum", () => {
      const bench = new Bench(subject);
      const p = bench.put([1]);
      bench.kernels.sgd(p, bench.put([4]), NULL, 1, 0.25, 0, 0);
      expect(at(bench.take(p, 1), 0)).toBe(0);
    });
  });

  test.each([...EDGE_SIZES])("softUpdate moves %i target parameters by tau", (count) => {
    const bench = new Bench(subject, count);
    const [t0, s0] = [bench.values(count), bench.values(count)];
    const target = bench.put(t0);
    bench.kernels.softUpdate(target, bench.put(s0), count, 0.005);
    expectClose(
      bench.take(target, count),
      plain(range(count).map((i) => at(t0, i) + 0.005 * (at(s0, i) - at(t0, i)))),
      2,
    );
  });
}
