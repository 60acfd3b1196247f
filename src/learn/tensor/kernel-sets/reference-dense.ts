/**
 * Reference kernels: linear layers and matrix products.
 * Written to be read: plain loops, sums in double precision, one rounding when a result is stored.
 */

import { GEMM, type Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";
import { activate } from "./reference-elementwise.ts";

type Dense = Pick<Kernels, "linearForward" | "linearBackwardInput" | "linearBackwardParams" | "gemm">;

export function referenceDense(memory: Memory): Dense {
  return {
    linearForward(x: Ptr, w: Ptr, b: Ptr, y: Ptr, rows: number, inputs: number, outputs: number, act: number) {
      const f = memory.f32;
      const [xs, ws, bs, ys] = [x >> 2, w >> 2, b >> 2, y >> 2];
      const sums = new Float64Array(outputs);
      for (let row = 0; row < rows; row++) {
        for (let j = 0; j < outputs; j++) sums[j] = b === 0 ? 0 : f[bs + j]!;
        for (let i = 0; i < inputs; i++) {
          const xi = f[xs + row * inputs + i]!;
          for (let j = 0; j < outputs; j++) sums[j]! += xi * f[ws + i * outputs + j]!;
        }
        for (let j = 0; j < outputs; j++) f[ys + row * outputs + j] = activate(sums[j]!, act);
      }
    },

    linearBackwardInput(dy: Ptr, w: Ptr, dx: Ptr, rows: number, inputs: number, outputs: number) {
      const f = memory.f32;
      const [dys, ws, dxs] = [dy >> 2, w >> 2, dx >> 2];
      for (let row = 0; row < rows; row++) {
        for (let i = 0; i < inputs; i++) {
          let sum = 0;
          for (let j = 0; j < outputs; j++) sum += f[dys + row * outputs + j]! * f[ws + i * outputs + j]!;
          f[dxs + row * inputs + i] = sum;
        }
      }
    },

    linearBackwardParams(x: Ptr, dy: Ptr, dw: Ptr, db: Ptr, rows: number, inputs: number, outputs: number) {
      const f = memory.f32;
      const [xs, dys, dws, dbs] = [x >> 2, dy >> 2, dw >> 2, db >> 2];
      const sums = new Float64Array(outputs);
      for (let i = 0; i < inputs; i++) {
        for (let j = 0; j < outputs; j++) sums[j] = f[dws + i * outputs + j]!;
        for (let row = 0; row < rows; row++) {
          const xi = f[xs + row * inputs + i]!;
          for (let j = 0; j < outputs; j++) sums[j]! += xi * f[dys + row * outputs + j]!;
        }
        for (let j = 0; j < outputs; j++) f[dws + i * outputs + j] = sums[j]!;
      }
      if (db === 0) return;
      for (let j = 0; j < outputs; j++) {
        let sum = f[dbs + j]!;
        for (let row = 0; row < rows; row++) sum += f[dys + row * outputs + j]!;
        f[dbs + j] = sum;
      }
    },

    gemm(
      a: Ptr,
      lda: number,
      b: Ptr,
      ldb: number,
      c: Ptr,
      ldc: number,
      m: number,
      n: number,
      k: number,
      flags: number,
    ) {
      const f = memory.f32;
      const [as, bs, cs] = [a >> 2, b >> 2, c >> 2];
      const [aRow, aStep] = flags & GEMM.transA ? [1, lda] : [lda, 1];
      const [bStep, bCol] = flags & GEMM.transB ? [1, ldb] : [ldb, 1];
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          const at = cs + i * ldc + j;
          let sum = flags & GEMM.accumulate ? f[at]! : 0;
          for (let s = 0; s < k; s++) sum += f[as + i * aRow + s * aStep]! * f[bs + s * bStep + j * bCol]!;
          f[at] = sum;
        }
      }
    },
  };
}
