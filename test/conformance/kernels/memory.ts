/** Conformance of a kernel set's memory: growth, reuse, and what happens at its ends. */

import { describe, expect, test } from "vitest";
import { ACT, type Ptr } from "../../../src/learn/tensor/index.ts";
import { at, Bench, type Subject } from "./harness.ts";

export function memorySuite(subject: Subject): void {
  describe("memory", () => {
    test("kernels see the memory after it has grown, and what was in it before", () => {
      const bench = new Bench(subject);
      const x = bench.put([1, 2, 3]);
      const before = bench.kernels.memory.f32;
      const far = bench.kernels.memory.alloc(16 * 1024 * 1024);
      expect(bench.kernels.memory.f32 === before).toBe(false);
      bench.kernels.axpy(x, far, 3, 10);
      expect([...bench.take(far, 3)]).toEqual([10, 20, 30]);
      const end = (far + (16 * 1024 * 1024 - 3) * 4) as Ptr;
      bench.kernels.activationForward(x, end, 3, ACT.none);
      expect([...bench.take(end, 3)]).toEqual([1, 2, 3]);
    });

    test("two sets share nothing", () => {
      const [one, other] = [new Bench(subject), new Bench(subject)];
      const [p, q] = [one.put([1]), other.put([1])];
      one.kernels.scale(p, 1, 5);
      expect([at(one.take(p, 1), 0), at(other.take(q, 1), 0)]).toEqual([5, 1]);
    });

    test("a block that was freed comes back zeroed", () => {
      const bench = new Bench(subject);
      const p = bench.put([1, 2, 3, 4]);
      bench.kernels.memory.free(p);
      const again = bench.kernels.memory.alloc(4);
      expect(again).toBe(p);
      expect([...bench.take(again, 4)]).toEqual([0, 0, 0, 0]);
    });
  });
}
