/** Reference kernels: softmax and layer normalisation, row by row. */

import type { Kernels } from "../kernels.ts";
import type { Memory, Ptr } from "../memory.ts";

type Rows = Pick<Kernels, "softmaxForward" | "softmaxBackward" | "layerNormForward" | "layerNormBackward">;

export function referenceRows(memory: Memory): Rows {
  return {
    softmaxForward(x: Ptr, y: Ptr, rows: number, cols: number) {
      const f = memory.f32;
      const exps = new Float64Array(cols);
      for (let row = 0; row < rows; row++) {
        const [xs, ys] = [(x >> 2) + row * cols, (y >> 2) + row * cols];
        let top = Number.NEGATIVE_INFINITY;
        for (let j = 0; j < cols; j++) top = Math.max(top, f[xs + j]!);
        let sum = 0;
        for (let j = 0; j < cols; j++) {
          exps[j] = Math.exp(f[xs + j]! - top);
          sum += exps[j]!;
        }
        for (let j = 0; j < cols; j++) f[ys + j] = exps[j]! / sum;
      }
    },

    softmaxBackward(y: Ptr, dy: Ptr, dx: Ptr, rows: number, cols: number) {
      const f = memory.f32;
      for (let row = 0; row < rows; row++) {
        const [ys, dys, dxs] = [(y >> 2) + row * cols, (dy >> 2) + row * cols, (dx >> 2) + row * cols];
        let dot = 0;
        for (let j = 0; j < cols; j++) dot += f[ys + j]! * f[dys + j]!;
        for (let j = 0; j < cols; j++) f[dxs + j] = f[ys + j]! * (f[dys + j]! - dot);
      }
    },

    layerNormForward(x: Ptr, gamma: Ptr, beta: Ptr, y: Ptr, saved: Ptr, rows: number, cols: number, eps: number) {
      const f = memory.f32;
      const [gs, bs] = [gamma >> 2, beta >> 2];
      for (let row = 0; row < rows; row++) {
        const [xs, ys] = [(x >> 2) + row * cols, (y >> 2) + row * cols];
        let mean = 0;
        for (let j = 0; j < cols; j++) mean += f[xs + j]!;
        mean /= cols;
        let variance = 0;
        for (let j = 0; j < cols; j++) variance += (f[xs + j]! - mean) ** 2;
        const inverse = 1 / Math.sqrt(variance / cols + eps);
        for (let j = 0; j < cols; j++) f[ys + j] = (f[xs + j]! - mean) * inverse * f[gs + j]! + f[bs + j]!;
        f[(saved >> 2) + row * 2] = mean;
        f[(saved >> 2) + row * 2 + 1] = inverse;
      }
    },

    layerNormBackward(
      x: Ptr,
      gamma: Ptr,
      saved: Ptr,
      dy: Ptr,
      dx: Ptr,
      dgamma: Ptr,
      dbeta: Ptr,
      rows: number,
      cols: number,
    ) {
      const f = memory.f32;
      const [gs, dgs, dbs] = [gamma >> 2, dgamma >> 2, dbeta >> 2];
      for (let row = 0; row < rows; row++) {
        const [xs, dys, dxs] = [(x >> 2) + row * cols, (dy >> 2) + row * cols, (dx >> 2) + row * cols];
        const mean = f[(saved >> 2) + row * 2]!;
        const inverse = f[(saved >> 2) + row * 2 + 1]!;
        // With x̂ the normalised row and g = dy·gamma: dx = (g − mean(g) − x̂·mean(g·x̂)) / std.
        let meanG = 0;
        let meanGx = 0;
        for (let j = 0; j < cols; j++) {
          const normal = (f[xs + j]! - mean) * inverse;
          const d = f[dys + j]!;
          f[dgs + j]! += d * normal;
          f[dbs + j]! += d;
          meanG += d * f[gs + j]!;
          meanGx += d * f[gs + j]! * normal;
        }
        meanG /= cols;
        meanGx /= cols;
        for (let j = 0; j < cols; j++) {
          const normal = (f[xs + j]! - mean) * inverse;
          f[dxs + j] = inverse * (f[dys + j]! * f[gs + j]! - meanG - normal * meanGx);
        }
      }
    },
  };
}
