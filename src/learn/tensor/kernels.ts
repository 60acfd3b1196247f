/**
 * The Kernels port: every numeric loop worth writing in C, and nothing else.
 * Three sets implement it: wasm (SIMD), native (the same C source, AVX2 without FMA, the same bits) and reference
 * (plain TypeScript: the tests' oracle and the last fallback). One conformance suite holds for all.
 *
 * All operands are byte offsets into `memory`; matrices are float32, row-major; "+=" outputs accumulate, all others
 * overwrite. One call per layer, never per element. No call allocates from `memory`: scratch is passed in, or lives in
 * the kernels' own reserved region. Sums run in an order that depends only on the operands' shapes, never on the
 * vector width, so that wasm and native agree bit for bit.
 */

import type { Memory, Ptr } from "./memory.ts";

/** Activation codes, shared with the C source. */
export const ACT = { none: 0, relu: 1, tanh: 2, sigmoid: 3 } as const;

/** `gemm` flags, shared with the C source. */
export const GEMM = { plain: 0, transA: 1, transB: 2, accumulate: 4 } as const;

export interface Kernels {
  readonly name: "wasm" | "native" | "reference";
  readonly memory: Memory;

  // ── dense ──────────────────────────────────────────────────────────────────────────────────────────
  /** y[rows,outputs] = act(x[rows,inputs] · w[inputs,outputs] + b[outputs]); b may be NULL. */
  linearForward(x: Ptr, w: Ptr, b: Ptr, y: Ptr, rows: number, inputs: number, outputs: number, act: number): void;
  /** dx[rows,inputs] = dy[rows,outputs] · wᵀ. */
  linearBackwardInput(dy: Ptr, w: Ptr, dx: Ptr, rows: number, inputs: number, outputs: number): void;
  /** dw[inputs,outputs] += xᵀ · dy and db[outputs] += column sums of dy; db may be NULL. */
  linearBackwardParams(x: Ptr, dy: Ptr, dw: Ptr, db: Ptr, rows: number, inputs: number, outputs: number): void;
  /** C[m,n] (+)= op(A) · op(B) with leading dimensions in floats; `flags` from GEMM. */
  gemm(
    a: Ptr, lda: number, b: Ptr, ldb: number, c: Ptr, ldc: number,
    m: number, n: number, k: number, flags: number,
  ): void;

  // ── elementwise ────────────────────────────────────────────────────────────────────────────────────
  /** y = act(x); in place allowed. */
  activationForward(x: Ptr, y: Ptr, count: number, act: number): void;
  /** dx = dy · act′, computed from the output y; in place (dx = dy) allowed. */
  activationBackward(y: Ptr, dy: Ptr, dx: Ptr, count: number, act: number): void;
  /** y += a · x. */
  axpy(x: Ptr, y: Ptr, count: number, a: number): void;
  /** x *= a. */
  scale(x: Ptr, count: number, a: number): void;
  /** Σ x², in double precision. */
  sumSquares(x: Ptr, count: number): number;

  // ── rows ───────────────────────────────────────────────────────────────────────────────────────────
  /** y = softmax of each row of x; in place allowed. */
  softmaxForward(x: Ptr, y: Ptr, rows: number, cols: number): void;
  /** dx = y ⊙ (dy − Σ y·dy) per row; in place (dx = dy) allowed. */
  softmaxBackward(y: Ptr, dy: Ptr, dx: Ptr, rows: number, cols: number): void;
  /** y = (x − mean)/sqrt(var + eps) · gamma + beta per row; saved[rows,2] receives mean and 1/std. */
  layerNormForward(x: Ptr, gamma: Ptr, beta: Ptr, y: Ptr, saved: Ptr, rows: number, cols: number, eps: number): void;
  /** dx overwritten (in place with dy allowed); dgamma, dbeta accumulate. */
  layerNormBackward(
    x: Ptr, gamma: Ptr, saved: Ptr, dy: Ptr, dx: Ptr, dgamma: Ptr, dbeta: Ptr, rows: number, cols: number,
  ): void;

  // ── recurrent, one direction of one layer over a whole sequence ────────────────────────────────────
  // Time-major: [steps, batch, …]. `mask` is NULL or [steps, batch] of 0 and 1; where 0, the state passes unchanged.
  // `reverse` 1 runs from the last step to the first. Gate order: GRU r, z, n; LSTM i, f, g, o (PyTorch's).
  /**
   * GRU: r = σ(xp_r + hU_r + c_r), z = σ(xp_z + hU_z + c_z), n = tanh(xp_n + r ⊙ (hU_n + c_n)), h′ = (1−z)⊙n + z⊙h.
   * xp[steps,batch,3H] holds x·W + b already; u[H,3H]; c[3H]; h0[batch,H] or NULL for zeros; out[steps,batch,H];
   * saved[steps,batch,4H] receives r, z, n and (hU_n + c_n) for the backward pass.
   */
  gruForward(
    xp: Ptr, u: Ptr, c: Ptr, h0: Ptr, mask: Ptr, out: Ptr, saved: Ptr,
    steps: number, batch: number, hidden: number, reverse: number,
  ): void;
  /**
   * dout[steps,batch,H] is the gradient of every output (read only). dxp[steps,batch,3H] and dh0[batch,H] (or NULL)
   * are overwritten; du[H,3H] and dc[3H] accumulate. scratch: at least steps·batch·3H + 4·batch·H floats.
   */
  gruBackward(
    u: Ptr, h0: Ptr, mask: Ptr, out: Ptr, saved: Ptr, dout: Ptr, dxp: Ptr, du: Ptr, dc: Ptr, dh0: Ptr, scratch: Ptr,
    steps: number, batch: number, hidden: number, reverse: number,
  ): void;
  /**
   * LSTM: c′ = f⊙c + i⊙g, h′ = o⊙tanh(c′). xp[steps,batch,4H] holds x·W + b (both biases); u[H,4H]; h0, c0[batch,H] or
   * NULL; out[steps,batch,H]; cells[steps,batch,H] receives c′; saved[steps,batch,4H] receives i, f, g, o.
   */
  lstmForward(
    xp: Ptr, u: Ptr, h0: Ptr, c0: Ptr, mask: Ptr, out: Ptr, cells: Ptr, saved: Ptr,
    steps: number, batch: number, hidden: number, reverse: number,
  ): void;
  /** As gruBackward; dxp[steps,batch,4H], du[H,4H] +=, dh0 and dc0 or NULL. scratch: at least 4·batch·H floats. */
  lstmBackward(
    u: Ptr, h0: Ptr, c0: Ptr, mask: Ptr, out: Ptr, cells: Ptr, saved: Ptr, dout: Ptr,
    dxp: Ptr, du: Ptr, dh0: Ptr, dc0: Ptr, scratch: Ptr,
    steps: number, batch: number, hidden: number, reverse: number,
  ): void;

  // ── optimisers over flat parameter vectors ─────────────────────────────────────────────────────────
  /**
   * Adam with decoupled weight decay: p −= lr·wd·p first, then m, v and p −= step · m / (sqrt(v)·rootCorrection + eps),
   * where the caller computes, in double, step = lr/(1−β₁ᵗ), rootCorrection = 1/sqrt(1−β₂ᵗ) and decay = lr·wd.
   */
  adam(
    p: Ptr, g: Ptr, m: Ptr, v: Ptr, count: number,
    step: number, beta1: number, beta2: number, eps: number, rootCorrection: number, decay: number,
  ): void;
  /** velocity = momentum·velocity + g (+ decay·p); p −= lr·velocity; velocity may be NULL when momentum is 0. */
  sgd(p: Ptr, g: Ptr, velocity: Ptr, count: number, lr: number, momentum: number, decay: number): void;
  /** target += tau · (source − target). */
  softUpdate(target: Ptr, source: Ptr, count: number, tau: number): void;
}
