/**
 * Scaled dot-product attention of several heads: softmax(Q·Kᵀ/√d, masked)·V, per sequence and head, and its way back.
 * Owns: the projected queries, keys and values, the attention weights, and their gradients.
 * Not here: the projections themselves (attention.ts).
 *
 * `qkv` is [rows, steps, 3·width]: a head's queries are the columns head·size … of the first third, and so on, reached
 * by leading dimensions; nothing is moved.
 */

import type { Kernels } from "./kernels.ts";
import { GEMM } from "./kernels.ts";
import type { Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";

interface HeadsOptions {
  readonly width: number;
  readonly heads: number;
  readonly causal: boolean;
  readonly steps: number;
  readonly batch: number;
  readonly trainable: boolean;
}

/** Far below any score, and finite, so that a step that may see nothing gets even weights instead of NaN. */
const HIDDEN = -1e30;

export class AttentionHeads {
  /** [batch, steps, 3·width]: queries, keys, values; the caller projects them here. */
  readonly qkv: Ptr;
  readonly #kernels: Kernels;
  readonly #options: HeadsOptions;
  readonly #size: number;
  /** [batch, heads, steps, steps]: who attends to whom. */
  readonly #weights: Ptr;
  /** [steps, steps]: gradients of one head's weights. */
  readonly #dWeights: Ptr;
  readonly #dQkv: Ptr;

  constructor(kernels: Kernels, options: HeadsOptions) {
    const { width, heads, steps, batch, trainable } = options;
    const { memory } = kernels;
    this.#kernels = kernels;
    this.#options = options;
    this.#size = width / heads;
    this.qkv = memory.alloc(batch * steps * 3 * width);
    this.#weights = memory.alloc(batch * heads * steps * steps);
    this.#dWeights = trainable ? memory.alloc(steps * steps) : NULL;
    this.#dQkv = trainable ? memory.alloc(batch * steps * 3 * width) : NULL;
  }

  /** Writes `context` [rows, steps, width]. */
  forward(context: Ptr, { rows, steps, mask }: { rows: number; steps: number; mask: Ptr }): void {
    const kernels = this.#kernels;
    const { width, heads, causal } = this.#options;
    const size = this.#size;
    const all = rows * heads * steps;
    for (let row = 0; row < rows; row++) {
      for (let head = 0; head < heads; head++) {
        const q = this.#at(this.qkv, row * steps, head);
        kernels.gemm(
          q,
          3 * width,
          offset(q, width),
          3 * width,
          this.#square(row, head, steps),
          steps,
          steps,
          steps,
          size,
          GEMM.transB,
        );
      }
    }
    kernels.scale(this.#weights, all * steps, 1 / Math.sqrt(size));
    if (mask !== NULL || causal) this.#hide({ rows, steps, mask });
    kernels.softmaxForward(this.#weights, this.#weights, all, steps);
    for (let row = 0; row < rows; row++) {
      for (let head = 0; head < heads; head++) {
        const v = offset(this.#at(this.qkv, row * steps, head), 2 * width);
        const into = offset(context, row * steps * width + head * size);
        kernels.gemm(this.#square(row, head, steps), steps, v, 3 * width, into, width, steps, size, steps, GEMM.plain);
      }
    }
  }

  /** From `dContext` [rows, steps, width] to the gradient of `qkv`, which is returned. */
  backward(dContext: Ptr, { rows, steps }: { rows: number; steps: number }): Ptr {
    const kernels = this.#kernels;
    const { width, heads } = this.#options;
    const size = this.#size;
    const wide = 3 * width;
    const scores = this.#dWeights;
    for (let row = 0; row < rows; row++) {
      for (let head = 0; head < heads; head++) {
        const q = this.#at(this.qkv, row * steps, head);
        const dq = this.#at(this.#dQkv, row * steps, head);
        const k = offset(q, width);
        const v = offset(k, width);
        const dk = offset(dq, width);
        const dv = offset(dk, width);
        const weights = this.#square(row, head, steps);
        const dOut = offset(dContext, row * steps * width + head * size);
        kernels.gemm(weights, steps, dOut, width, dv, wide, steps, size, steps, GEMM.transA);
        kernels.gemm(dOut, width, v, wide, scores, steps, steps, steps, size, GEMM.transB);
        kernels.softmaxBackward(weights, scores, scores, steps, steps);
        kernels.scale(scores, steps * steps, 1 / Math.sqrt(size));
        kernels.gemm(scores, steps, k, wide, dq, wide, steps, size, steps, GEMM.plain);
        kernels.gemm(scores, steps, q, wide, dk, wide, steps, size, steps, GEMM.transA);
      }
    }
    return this.#dQkv;
  }

  dispose(): void {
    const { memory } = this.#kernels;
    for (const ptr of [this.qkv, this.#weights, this.#dWeights, this.#dQkv]) if (ptr !== NULL) memory.free(ptr);
  }

  #at(block: Ptr, firstStep: number, head: number): Ptr {
    return offset(block, firstStep * 3 * this.#options.width + head * this.#size);
  }

  #square(row: number, head: number, steps: number): Ptr {
    return offset(this.#weights, (row * this.#options.heads + head) * steps * steps);
  }

  #hide({ rows, steps, mask }: { rows: number; steps: number; mask: Ptr }): void {
    const { heads, causal } = this.#options;
    const f32 = this.#kernels.memory.f32;
    let at = this.#weights >> 2;
    for (let row = 0; row < rows; row++) {
      const seen = (mask >> 2) + row * steps;
      for (let line = 0; line < heads * steps; line++) {
        for (let key = 0; key < steps; key++, at++) {
          const isHidden = (mask !== NULL && f32[seen + key] === 0) || (causal && key > line % steps);
          if (isHidden) f32[at] = HIDDEN;
        }
      }
    }
  }
}
