/**
 * One matrix product per task: `gemm:<m>x<n>x<k>:<nn|tn|nt>`. Keeps the compilers honest: whether V8 keeps a kernel's
 * sums in registers shows here first. And single calls of the other kernels of an update, `kernel:<name>`.
 */

import { ACT, GEMM, type Kernels } from "../../src/learn/tensor/index.ts";
import type { Task } from "./line-server.ts";

/** The products of the DDPG update, of a 256-wide layer and of the GRU's parts. */
export const GEMM_SHAPES = [
  "64x64x64:nn",
  "64x64x64:nt",
  "64x64x64:tn",
  "64x64x13:nn",
  "64x5x64:nn",
  "64x256x256:nn",
  "20x768x256:nn",
  "20x256x768:nt",
  "2000x768x512:nn",
  "512x768x2000:tn",
  "2000x512x768:nt",
] as const;

const FLAGS: Readonly<Record<string, number>> = { nn: GEMM.plain, tn: GEMM.transA, nt: GEMM.transB };

export function parseShape(shape: string): { m: number; n: number; k: number; flags: number } {
  const [, m, n, k, kind] = /^(\d+)x(\d+)x(\d+):(nn|tn|nt)$/.exec(shape) ?? [];
  if (kind === undefined) throw new Error(`a product is named like 64x64x64:nn, not ${shape}`);
  return { m: Number(m), n: Number(n), k: Number(k), flags: FLAGS[kind] as number };
}

export function gemmTask(kernels: Kernels, shape: string): Task {
  const { m, n, k, flags } = parseShape(shape);
  const { memory } = kernels;
  const [a, b, c] = [memory.alloc(m * k), memory.alloc(k * n), memory.alloc(m * n)] as const;
  memory.view(a, m * k).fill(0.5);
  memory.view(b, k * n).fill(0.25);
  const lda = flags & GEMM.transA ? m : k;
  const ldb = flags & GEMM.transB ? k : n;
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) kernels.gemm(a, lda, b, ldb, c, n, m, n, k, flags);
    },
    answer: () => memory.view(c, m * n).slice(),
    close() {
      for (const ptr of [a, b, c]) memory.free(ptr);
    },
  };
}

/** Kernels as the DDPG update calls them: 64 rows, 64 wide, 5,000 parameters. */
export const KERNEL_CALLS = [
  "linear-64x64-relu",
  "linear-64x5-tanh",
  "linear-64x1",
  "linear-row-64",
  "backward-input-64x64",
  "backward-params-64x64",
  "backward-input-64x1",
  "backward-params-64x1",
  "relu-backward-4096",
  "tanh-4096",
  "adam-5000",
  "soft-update-5000",
  "sum-squares-5000",
] as const;

export function kernelTask(kernels: Kernels, name: string): Task {
  const { memory } = kernels;
  const block = (count: number) => {
    const ptr = memory.alloc(count);
    memory.view(ptr, count).forEach((_, i, all) => {
      all[i] = ((i * 7919) % 1000) / 1000 - 0.5;
    });
    return ptr;
  };
  const [x, w, b, y] = [block(4096), block(4096), block(64), block(4096)] as const;
  const [p, g, m, v] = [block(5000), block(5000), block(5000), memory.alloc(5000)] as const;
  const calls: Readonly<Record<string, () => void>> = {
    "linear-64x64-relu": () => kernels.linearForward(x, w, b, y, 64, 64, 64, ACT.relu),
    "linear-64x5-tanh": () => kernels.linearForward(x, w, b, y, 64, 64, 5, ACT.tanh),
    "linear-64x1": () => kernels.linearForward(x, w, b, y, 64, 64, 1, ACT.none),
    "linear-row-64": () => kernels.linearForward(x, w, b, y, 1, 64, 64, ACT.relu),
    "backward-input-64x64": () => kernels.linearBackwardInput(x, w, y, 64, 64, 64),
    "backward-params-64x64": () => kernels.linearBackwardParams(x, y, w, b, 64, 64, 64),
    "backward-input-64x1": () => kernels.linearBackwardInput(x, w, y, 64, 64, 1),
    "backward-params-64x1": () => kernels.linearBackwardParams(x, y, w, b, 64, 64, 1),
    "relu-backward-4096": () => kernels.activationBackward(x, y, y, 4096, ACT.relu),
    "tanh-4096": () => kernels.activationForward(x, y, 4096, ACT.tanh),
    "adam-5000": () => kernels.adam(p, g, m, v, 5000, 1e-3, 0.9, 0.999, 1e-8, 1, 0),
    "sum-squares-5000": () => {
      kernels.sumSquares(g, 5000);
    },
    "soft-update-5000": () => kernels.softUpdate(p, g, 5000, 0.005),
  };
  const call = calls[name];
  if (!call) throw new Error(`no kernel task ${name}`);
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) call();
    },
    close() {
      for (const ptr of [x, w, b, y, p, g, m, v]) memory.free(ptr);
    },
  };
}
