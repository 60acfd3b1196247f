/** Reference kernels: an LSTM over a whole sequence, forward and backward. The equations stand in kernels.ts. */

import type { Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";
import { sigmoid } from "./reference-elementwise.ts";
import { stepOrder } from "./reference-steps.ts";

type Lstm = Pick<Kernels, "lstmForward" | "lstmBackward">;

export function referenceLstm(memory: Memory): Lstm {
  return {
    lstmForward(
      xp: Ptr,
      u: Ptr,
      h0: Ptr,
      c0: Ptr,
      mask: Ptr,
      out: Ptr,
      cells: Ptr,
      saved: Ptr,
      steps: number,
      batch: number,
      hidden: number,
      reverse: number,
    ) {
      const f = memory.f32;
      const us = u >> 2;
      const gates = new Float64Array(4 * hidden);
      for (const { now, before } of stepOrder(steps, reverse)) {
        for (let row = 0; row < batch; row++) {
          const at = now * batch + row;
          const stateAt = (before < 0 ? row : before * batch + row) * hidden;
          const hs = ((before < 0 ? h0 : out) >> 2) + stateAt;
          const cs = ((before < 0 ? c0 : cells) >> 2) + stateAt;
          const hIsZero = before < 0 && h0 === 0;
          const cIsZero = before < 0 && c0 === 0;
          const xs = (xp >> 2) + at * 4 * hidden;
          for (let g = 0; g < 4 * hidden; g++) gates[g] = f[xs + g]!;
          for (let i = 0; i < hidden && !hIsZero; i++) {
            const h = f[hs + i]!;
            for (let g = 0; g < 4 * hidden; g++) gates[g]! += h * f[us + i * 4 * hidden + g]!;
          }
          const isOpen = mask === 0 || f[(mask >> 2) + at] !== 0;
          const ss = (saved >> 2) + at * 4 * hidden;
          for (let j = 0; j < hidden; j++) {
            const i = sigmoid(gates[j]!);
            const forget = sigmoid(gates[hidden + j]!);
            const g = Math.tanh(gates[2 * hidden + j]!);
            const o = sigmoid(gates[3 * hidden + j]!);
            const c = cIsZero ? 0 : f[cs + j]!;
            const h = hIsZero ? 0 : f[hs + j]!;
            const next = forget * c + i * g;
            f[ss + j] = i;
            f[ss + hidden + j] = forget;
            f[ss + 2 * hidden + j] = g;
            f[ss + 3 * hidden + j] = o;
            f[(cells >> 2) + at * hidden + j] = isOpen ? next : c;
            f[(out >> 2) + at * hidden + j] = isOpen ? o * Math.tanh(next) : h;
          }
        }
      }
    },

    lstmBackward(
      u: Ptr,
      h0: Ptr,
      c0: Ptr,
      mask: Ptr,
      out: Ptr,
      cells: Ptr,
      saved: Ptr,
      dout: Ptr,
      dxp: Ptr,
      du: Ptr,
      dh0: Ptr,
      dc0: Ptr,
      _scratch: Ptr,
      steps: number,
      batch: number,
      hidden: number,
      reverse: number,
    ) {
      const f = memory.f32;
      const [us, dus] = [u >> 2, du >> 2];
      const dState = new Float64Array(batch * hidden);
      const dCell = new Float64Array(batch * hidden);
      const dgates = new Float64Array(4 * hidden);
      const sums = new Float64Array(4 * hidden * hidden);
      for (const { now, before } of stepOrder(steps, reverse).reverse()) {
        for (let row = 0; row < batch; row++) {
          const at = now * batch + row;
          const isOpen = mask === 0 || f[(mask >> 2) + at] !== 0;
          const stateAt = (before < 0 ? row : before * batch + row) * hidden;
          const hs = ((before < 0 ? h0 : out) >> 2) + stateAt;
          const cs = ((before < 0 ? c0 : cells) >> 2) + stateAt;
          const hIsZero = before < 0 && h0 === 0;
          const cIsZero = before < 0 && c0 === 0;
          const ss = (saved >> 2) + at * 4 * hidden;
          const xs = (dxp >> 2) + at * 4 * hidden;
          for (let j = 0; j < hidden; j++) {
            const dh = f[(dout >> 2) + at * hidden + j]! + dState[row * hidden + j]!;
            const [i, forget] = [f[ss + j]!, f[ss + hidden + j]!];
            const [g, o] = [f[ss + 2 * hidden + j]!, f[ss + 3 * hidden + j]!];
            const c = cIsZero ? 0 : f[cs + j]!;
            const top = Math.tanh(f[(cells >> 2) + at * hidden + j]!);
            const dc = dCell[row * hidden + j]! + (isOpen ? dh * o * (1 - top * top) : 0);
            dgates[j] = isOpen ? dc * g * i * (1 - i) : 0;
            dgates[hidden + j] = isOpen ? dc * c * forget * (1 - forget) : 0;
            dgates[2 * hidden + j] = isOpen ? dc * i * (1 - g * g) : 0;
            dgates[3 * hidden + j] = isOpen ? dh * top * o * (1 - o) : 0;
            dCell[row * hidden + j] = isOpen ? dc * forget : dc;
            dState[row * hidden + j] = isOpen ? 0 : dh;
          }
          for (let g = 0; g < 4 * hidden; g++) f[xs + g] = dgates[g]!;
          for (let i = 0; i < hidden; i++) {
            const h = hIsZero ? 0 : f[hs + i]!;
            let back = 0;
            for (let g = 0; g < 4 * hidden; g++) {
              back += dgates[g]! * f[us + i * 4 * hidden + g]!;
              sums[i * 4 * hidden + g]! += h * dgates[g]!;
            }
            dState[row * hidden + i]! += back;
          }
        }
      }
      for (let i = 0; i < sums.length; i++) f[dus + i]! += sums[i]!;
      if (dh0 !== 0) f.set(dState, dh0 >> 2);
      if (dc0 !== 0) f.set(dCell, dc0 >> 2);
    },
  };
}
