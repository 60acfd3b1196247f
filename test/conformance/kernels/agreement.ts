/**
 * A long deterministic program over every kernel. Its memory's fingerprint is the same for wasm and native, on every
 * machine: the promise behind "the same seed, the same bytes".
 */

import { createHash } from "node:crypto";
import { type Rng, seededRng } from "../../../src/base/index.ts";
import { ACT, type Kernels, NULL, type Ptr } from "../../../src/learn/tensor/index.ts";

const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 48, 64, 65, 100, 130, 260];

class Program {
  readonly #k: Kernels;
  readonly #rng: Rng;
  readonly #hash = createHash("sha256");

  constructor(kernels: Kernels, rng: Rng) {
    this.#k = kernels;
    this.#rng = rng;
  }

  #values(count: number, scale = 1): Ptr {
    const ptr = this.#k.memory.alloc(count);
    const f = this.#k.memory.f32;
    for (let i = 0; i < count; i++) f[(ptr >> 2) + i] = (this.#rng.next() * 2 - 1) * scale;
    return ptr;
  }

  #size(limit = SIZES.length): number {
    return SIZES[this.#rng.int(limit)] as number;
  }

  #see(ptr: Ptr, count: number): void {
    const view = this.#k.memory.view(ptr, count);
    this.#hash.update(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  linear(): void {
    const [rows, inputs, outputs] = [this.#size(), this.#size(), this.#size()];
    const [x, w, b] = [this.#values(rows * inputs), this.#values(inputs * outputs), this.#values(outputs)];
    const [y, dx] = [this.#values(rows * outputs), this.#values(rows * inputs)];
    const [dw, db] = [this.#values(inputs * outputs), this.#values(outputs)];
    const act = this.#rng.int(4);
    this.#k.linearForward(x, w, b, y, rows, inputs, outputs, act);
    this.#see(y, rows * outputs);
    this.#k.activationBackward(y, y, y, rows * outputs, act);
    this.#k.linearBackwardInput(y, w, dx, rows, inputs, outputs);
    this.#k.linearBackwardParams(x, y, dw, db, rows, inputs, outputs);
    for (const [p, n] of [
      [dx, rows * inputs],
      [dw, inputs * outputs],
      [db, outputs],
    ] as const)
      this.#see(p, n);
  }

  product(): void {
    const [m, n, k, flags] = [this.#size(), this.#size(), this.#size(), this.#rng.int(8)];
    const [lda, ldb] = [Math.max(m, k) + this.#rng.int(3), Math.max(n, k) + this.#rng.int(3)];
    const c = this.#values(m * n);
    this.#k.gemm(
      this.#values(lda * Math.max(m, k)),
      lda,
      this.#values(ldb * Math.max(n, k)),
      ldb,
      c,
      n,
      m,
      n,
      k,
      flags,
    );
    this.#see(c, m * n);
  }

  elements(): void {
    const count = this.#size() * 3;
    const [x, y] = [this.#values(count, 20), this.#values(count)];
    this.#k.activationForward(x, x, count, 1 + this.#rng.int(3));
    this.#k.axpy(x, y, count, this.#rng.next());
    this.#k.scale(y, count, this.#rng.next() * 3);
    this.#see(y, count);
    this.#hash.update(Float64Array.of(this.#k.sumSquares(y, count)));
  }

  rows(): void {
    const [rows, cols] = [this.#size(8), this.#size()];
    const n = rows * cols;
    const [x, y, d, saved] = [this.#values(n, 5), this.#values(n), this.#values(n), this.#values(2 * rows)];
    const [gamma, beta, dgamma, dbeta] = [
      this.#values(cols),
      this.#values(cols),
      this.#values(cols),
      this.#values(cols),
    ];
    this.#k.softmaxForward(x, y, rows, cols);
    this.#k.softmaxBackward(y, d, d, rows, cols);
    this.#see(d, n);
    this.#k.layerNormForward(x, gamma, beta, y, saved, rows, cols, 1e-5);
    this.#k.layerNormBackward(x, gamma, saved, y, d, dgamma, dbeta, rows, cols);
    for (const [p, count] of [
      [y, n],
      [d, n],
      [dgamma, cols],
      [dbeta, cols],
    ] as const)
      this.#see(p, count);
  }

  sequence(): void {
    const [steps, batch, h, reverse] = [1 + this.#rng.int(6), this.#size(8), this.#size(17), this.#rng.int(2)];
    const rows = steps * batch;
    const mask = this.#rng.int(2) ? this.#values(rows) : NULL;
    if (mask !== NULL) this.#k.activationForward(mask, mask, rows, ACT.relu);
    const h0 = this.#rng.int(2) ? this.#values(batch * h) : NULL;
    const c0 = this.#rng.int(2) ? this.#values(batch * h) : NULL;
    const [xp, u, c] = [this.#values(rows * 4 * h), this.#values(h * 4 * h, 0.3), this.#values(3 * h)];
    const [out, cells, saved] = [this.#values(rows * h), this.#values(rows * h), this.#values(rows * 4 * h)];
    const [dout, dxp, du, dc] = [
      this.#values(rows * h),
      this.#values(rows * 4 * h),
      this.#values(h * 4 * h),
      this.#values(3 * h),
    ];
    const [dh0, dc0, scratch] = [
      this.#values(batch * h),
      this.#values(batch * h),
      this.#values(rows * 3 * h + 4 * batch * h),
    ];
    this.#k.gruForward(xp, u, c, h0, mask, out, saved, steps, batch, h, reverse);
    this.#k.gruBackward(u, h0, mask, out, saved, dout, dxp, du, dc, dh0, scratch, steps, batch, h, reverse);
    for (const [p, n] of [
      [out, rows * h],
      [dxp, rows * 3 * h],
      [du, h * 3 * h],
      [dc, 3 * h],
      [dh0, batch * h],
    ] as const) {
      this.#see(p, n);
    }
    this.#k.lstmForward(xp, u, h0, c0, mask, out, cells, saved, steps, batch, h, reverse);
    this.#k.lstmBackward(
      u,
      h0,
      c0,
      mask,
      out,
      cells,
      saved,
      dout,
      dxp,
      du,
      dh0,
      dc0,
      scratch,
      steps,
      batch,
      h,
      reverse,
    );
    for (const [p, n] of [
      [out, rows * h],
      [dxp, rows * 4 * h],
      [du, h * 4 * h],
      [dh0, batch * h],
      [dc0, batch * h],
    ] as const) {
      this.#see(p, n);
    }
  }

  /** One network trained on its own outputs: each step feeds on the bits of the one before. */
  training(steps: number): void {
    const [batch, inputs, hidden] = [33, 13, 65];
    const count = inputs * hidden + hidden;
    const [p, g, m, v] = [this.#values(count), this.#values(count), this.#values(count), this.#values(count, 0)];
    const [target, x, y, dx] = [
      this.#values(count),
      this.#values(batch * inputs),
      this.#values(batch * hidden),
      this.#values(batch * inputs),
    ];
    const bias = (p + inputs * hidden * 4) as Ptr;
    const biasGradient = (g + inputs * hidden * 4) as Ptr;
    for (let t = 1; t <= steps; t++) {
      this.#k.scale(g, count, 0);
      this.#k.linearForward(x, p, bias, y, batch, inputs, hidden, 1 + (t % 3));
      this.#k.linearBackwardParams(x, y, g, biasGradient, batch, inputs, hidden);
      this.#k.linearBackwardInput(y, p, dx, batch, inputs, hidden);
      this.#k.adam(p, g, m, v, count, 0.001 / (1 - 0.9 ** t), 0.9, 0.999, 1e-8, 1 / Math.sqrt(1 - 0.999 ** t), 1e-5);
      this.#k.sgd(target, g, NULL, count, 1e-4, 0, 0);
      this.#k.softUpdate(target, p, count, 0.005);
      this.#k.axpy(dx, x, batch * inputs, -1e-3);
    }
    for (const block of [p, m, v, target]) this.#see(block, count);
  }
}

/** The fingerprint of everything the program computed. */
export function fingerprint(kernels: Kernels): string {
  const program = new Program(kernels, seededRng(20_261_115));
  for (let round = 0; round < 60; round++) {
    program.linear();
    program.product();
    program.elements();
    program.rows();
    program.sequence();
  }
  program.training(500);
  return program.digest();
}
