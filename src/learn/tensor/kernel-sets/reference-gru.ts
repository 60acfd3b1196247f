/** Reference kernels: a GRU over a whole sequence, forward and backward. The equations stand in kernels.ts. */

import type { Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";
import { sigmoid } from "./reference-elementwise.ts";
import { stepOrder } from "./reference-steps.ts";

type Gru = Pick<Kernels, "gruForward" | "gruBackward">;

export function referenceGru(memory: Memory): Gru {
  return {
    gruForward(
      xp: Ptr,
      u: Ptr,
      c: Ptr,
      h0: Ptr,
      mask: Ptr,
      out: Ptr,
      saved: Ptr,
      steps: number,
      batch: number,
      hidden: number,
      reverse: number,
    ) {
      const f = memory.f32;
      const [us, cs] = [u >> 2, c >> 2];
      const gates = new Float64Array(3 * hidden);
      for (const { now, before } of stepOrder(steps, reverse)) {
        for (let row = 0; row < batch; row++) {
          const at = now * batch + row;
          const previous = before < 0 ? h0 >> 2 : out >> 2;
          const from = previous + (before < 0 ? row : before * batch + row) * hidden;
          const isZero = before < 0 && h0 === 0;
          for (let g = 0; g < 3 * hidden; g++) gates[g] = f[cs + g]!;
          for (let i = 0; i < hidden && !isZero; i++) {
            const h = f[from + i]!;
            for (let g = 0; g < 3 * hidden; g++) gates[g]! += h * f[us + i * 3 * hidden + g]!;
          }
          const isOpen = mask === 0 || f[(mask >> 2) + at] !== 0;
          const xs = (xp >> 2) + at * 3 * hidden;
          const ss = (saved >> 2) + at * 4 * hidden;
          for (let j = 0; j < hidden; j++) {
            const r = sigmoid(f[xs + j]! + gates[j]!);
            const z = sigmoid(f[xs + hidden + j]! + gates[hidden + j]!);
            const q = gates[2 * hidden + j]!;
            const n = Math.tanh(f[xs + 2 * hidden + j]! + r * q);
            const h = isZero ? 0 : f[from + j]!;
            f[ss + j] = r;
            f[ss + hidden + j] = z;
            f[ss + 2 * hidden + j] = n;
            f[ss + 3 * hidden + j] = q;
            f[(out >> 2) + at * hidden + j] = isOpen ? (1 - z) * n + z * h : h;
          }
        }
      }
    },

    gruBackward(
      u: Ptr,
      h0: Ptr,
      mask: Ptr,
      out: Ptr,
      saved: Ptr,
      dout: Ptr,
      dxp: Ptr,
      du: Ptr,
      dc: Ptr,
      dh0: Ptr,
      _scratch: Ptr,
      steps: number,
      batch: number,
      hidden: number,
      reverse: number,
    ) {
      const f = memory.f32;
      const [us, dus, dcs] = [u >> 2, du >> 2, dc >> 2];
      const carried = new Float64Array(batch * hidden);
      const dgates = new Float64Array(3 * hidden);
      const sums = new Float64Array(3 * hidden * (hidden + 1));
      for (const { now, before } of stepOrder(steps, reverse).reverse()) {
        for (let row = 0; row < batch; row++) {
          const at = now * batch + row;
          const isOpen = mask === 0 || f[(mask >> 2) + at] !== 0;
          const isZero = before < 0 && h0 === 0;
          const from = before < 0 ? (h0 >> 2) + row * hidden : (out >> 2) + (before * batch + row) * hidden;
          const ss = (saved >> 2) + at * 4 * hidden;
          const xs = (dxp >> 2) + at * 3 * hidden;
          for (let j = 0; j < hidden; j++) {
            const dh = f[(dout >> 2) + at * hidden + j]! + carried[row * hidden + j]!;
            const [r, z, n, q] = [f[ss + j]!, f[ss + hidden + j]!, f[ss + 2 * hidden + j]!, f[ss + 3 * hidden + j]!];
            const h = isZero ? 0 : f[from + j]!;
            const dn = isOpen ? dh * (1 - z) * (1 - n * n) : 0;
            const dz = isOpen ? dh * (h - n) * z * (1 - z) : 0;
            const dr = isOpen ? dn * q * r * (1 - r) : 0;
            f[xs + j] = dr;
            f[xs + hidden + j] = dz;
            f[xs + 2 * hidden + j] = dn;
            dgates[j] = dr;
            dgates[hidden + j] = dz;
            dgates[2 * hidden + j] = isOpen ? dn * r : 0;
            carried[row * hidden + j] = isOpen ? dh * z : dh;
          }
          for (let g = 0; g < 3 * hidden; g++) sums[hidden * 3 * hidden + g]! += dgates[g]!;
          for (let i = 0; i < hidden; i++) {
            const h = isZero ? 0 : f[from + i]!;
            let back = 0;
            for (let g = 0; g < 3 * hidden; g++) {
              back += dgates[g]! * f[us + i * 3 * hidden + g]!;
              sums[i * 3 * hidden + g]! += h * dgates[g]!;
            }
            carried[row * hidden + i]! += back;
          }
        }
      }
      for (let i = 0; i < hidden * 3 * hidden; i++) f[dus + i]! += sums[i]!;
      for (let g = 0; g < 3 * hidden; g++) f[dcs + g]! += sums[hidden * 3 * hidden + g]!;
      if (dh0 !== 0) f.set(carried, dh0 >> 2);
    },
  };
}
