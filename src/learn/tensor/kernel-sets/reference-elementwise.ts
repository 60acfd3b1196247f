/** Reference kernels: one element at a time. */

import { ACT, type Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";

type Elementwise = Pick<Kernels, "activationForward" | "activationBackward" | "axpy" | "scale" | "sumSquares">;

export function sigmoid(x: number): number {
  // Both branches keep exp's argument negative: no overflow, and small results stay exact.
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const e = Math.exp(x);
  return e / (1 + e);
}

export function activate(x: number, act: number): number {
  switch (act) {
    case ACT.relu:
      return Math.max(x, 0); // NaN is passed on, not hidden
    case ACT.tanh:
      return Math.tanh(x);
    case ACT.sigmoid:
      return sigmoid(x);
    default:
      return x;
  }
}

/** dy times the activation's derivative, which the output alone determines. */
function backThrough(y: number, dy: number, act: number): number {
  switch (act) {
    case ACT.relu:
      return y > 0 ? dy : 0;
    case ACT.tanh:
      return dy * (1 - y * y);
    case ACT.sigmoid:
      return dy * y * (1 - y);
    default:
      return dy;
  }
}

export function referenceElementwise(memory: Memory): Elementwise {
  return {
    activationForward(x: Ptr, y: Ptr, count: number, act: number) {
      const f = memory.f32;
      const [xs, ys] = [x >> 2, y >> 2];
      for (let i = 0; i < count; i++) f[ys + i] = activate(f[xs + i]!, act);
    },

    activationBackward(y: Ptr, dy: Ptr, dx: Ptr, count: number, act: number) {
      const f = memory.f32;
      const [ys, dys, dxs] = [y >> 2, dy >> 2, dx >> 2];
      for (let i = 0; i < count; i++) f[dxs + i] = backThrough(f[ys + i]!, f[dys + i]!, act);
    },

    axpy(x: Ptr, y: Ptr, count: number, a: number) {
      const f = memory.f32;
      const [xs, ys] = [x >> 2, y >> 2];
      for (let i = 0; i < count; i++) f[ys + i]! += a * f[xs + i]!;
    },

    scale(x: Ptr, count: number, a: number) {
      const f = memory.f32;
      const xs = x >> 2;
      for (let i = 0; i < count; i++) f[xs + i]! *= a;
    },

    sumSquares(x: Ptr, count: number): number {
      const f = memory.f32;
      const xs = x >> 2;
      let sum = 0;
      for (let i = 0; i < count; i++) sum += f[xs + i]! * f[xs + i]!;
      return sum;
    },
  };
}
