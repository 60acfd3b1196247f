/**
 * The reference kernel set: every kernel in plain TypeScript.
 * It is the tests' oracle and the last fallback, where neither WebAssembly SIMD nor the addon can be had. It sums in
 * double precision, so its results differ from the other sets' in the last bits: never mix sets within one run.
 */

import type { Kernels } from "../kernels.ts";
import { type GrowableBuffer, MAX_PAGES, Memory } from "../memory.ts";
import { referenceDense } from "./reference-dense.ts";
import { referenceElementwise } from "./reference-elementwise.ts";
import { referenceGru } from "./reference-gru.ts";
import { referenceLstm } from "./reference-lstm.ts";
import { referenceOptimisers } from "./reference-optimisers.ts";
import { referenceRows } from "./reference-rows.ts";

const PAGE = 65_536;

export function referenceKernels({ initialMiB = 1 }: { initialMiB?: number } = {}): Kernels {
  const memory = new Memory(new CopyingBuffer(initialMiB * 16));
  return {
    name: "reference",
    memory,
    ...referenceDense(memory),
    ...referenceElementwise(memory),
    ...referenceRows(memory),
    ...referenceGru(memory),
    ...referenceLstm(memory),
    ...referenceOptimisers(memory),
  };
}

/** Grows by moving house: needs no WebAssembly, which is the point of the last fallback. */
class CopyingBuffer implements GrowableBuffer {
  #buffer: ArrayBuffer;

  constructor(pages: number) {
    this.#buffer = new ArrayBuffer(Math.max(1, Math.ceil(pages)) * PAGE);
  }

  get buffer(): ArrayBuffer {
    return this.#buffer;
  }

  grow(pages: number): number {
    const before = this.#buffer;
    if (before.byteLength / PAGE + pages > MAX_PAGES) throw new RangeError("beyond the largest memory");
    const next = new ArrayBuffer(before.byteLength + pages * PAGE);
    new Uint8Array(next).set(new Uint8Array(before));
    this.#buffer = next;
    return before.byteLength / PAGE;
  }
}
