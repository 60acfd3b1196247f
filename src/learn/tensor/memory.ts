/**
 * The one linear memory that tensors live in.
 * Owns: allocation, the views over the buffer, and their renewal when the memory grows.
 * Not here: what the numbers mean (layers), who computes on them (kernels).
 *
 * Kernels address it by byte offset (`Ptr`), so the same call reaches wasm, the native addon and the reference.
 * Code above the kernels reads and writes `f32[ptr >> 2]` and fetches `f32` anew at the top of each function:
 * growing the memory replaces the view.
 */

import { CodedError, failure } from "../../base/index.ts";

declare const pointer: unique symbol;
/** A byte offset into the memory, 64-byte aligned when it comes from `alloc`. */
export type Ptr = number & { readonly [pointer]: true };

/** No block: an optional operand that is absent. The first bytes of the memory are never handed out. */
export const NULL = 0 as Ptr;

/** `floats` float32 elements beyond a pointer. */
export const offset = (ptr: Ptr, floats: number): Ptr => (ptr + floats * 4) as Ptr;

/** What a kernel set provides: a buffer that can grow. `WebAssembly.Memory` has this very shape, in 64 KiB pages. */
export interface GrowableBuffer {
  readonly buffer: ArrayBufferLike;
  grow(pages: number): number;
}

/** Pages are WebAssembly's. */
const PAGE = 65_536;
/** 2 GiB, so that pointers stay positive as 32-bit integers: `ptr >> 2` is an index everywhere. */
export const MAX_PAGES = 32_768;
const ALIGN = 64;

export class Memory {
  readonly #backing: GrowableBuffer;
  #f32: Float32Array;
  #top: number;
  /** Freed blocks by size: networks of one shape come and go, so exact fits are the common case. */
  readonly #free = new Map<number, Ptr[]>();
  readonly #sizes = new Map<Ptr, number>();
  readonly #onGrow: ((buffer: ArrayBufferLike) => void) | undefined;

  /** `reserved` bytes at the start belong to the kernels (their stack and constants) and to the null pointer. */
  constructor(
    backing: GrowableBuffer,
    { reserved = ALIGN, onGrow }: { reserved?: number; onGrow?: (buffer: ArrayBufferLike) => void } = {},
  ) {
    this.#backing = backing;
    this.#f32 = new Float32Array(backing.buffer);
    this.#top = roundUp(Math.max(reserved, ALIGN));
    this.#onGrow = onGrow;
  }

  /** The whole memory as floats. Fetch it anew in each function: growth replaces it. */
  get f32(): Float32Array {
    return this.#f32;
  }

  /** Bytes handed out and not freed. */
  get used(): number {
    let total = 0;
    for (const size of this.#sizes.values()) total += size;
    return total;
  }

  /** Zeroed room for that many floats. */
  alloc(floats: number): Ptr {
    if (!Number.isInteger(floats) || floats < 0) throw new RangeError(`cannot allocate ${floats} floats`);
    const size = roundUp(Math.max(floats, 1) * 4);
    const reused = this.#free.get(size)?.pop();
    const ptr = reused ?? this.#bump(size);
    this.#sizes.set(ptr, size);
    if (reused !== undefined) this.#f32.fill(0, ptr >> 2, (ptr + size) >> 2);
    return ptr;
  }

  free(ptr: Ptr): void {
    const size = this.#sizes.get(ptr);
    if (size === undefined) throw new RangeError(`the block at ${ptr} was not allocated here, or was freed before`);
    this.#sizes.delete(ptr);
    const list = this.#free.get(size);
    if (list) list.push(ptr);
    else this.#free.set(size, [ptr]);
  }

  /** A window on a block. Do not keep it across an `alloc`. */
  view(ptr: Ptr, floats: number): Float32Array {
    return this.#f32.subarray(ptr >> 2, (ptr >> 2) + floats);
  }

  #bump(size: number): Ptr {
    const ptr = this.#top as Ptr;
    const need = this.#top + size - this.#backing.buffer.byteLength;
    if (need > 0) {
      this.#grow(need);
      this.#f32 = new Float32Array(this.#backing.buffer);
      this.#onGrow?.(this.#backing.buffer);
    }
    this.#top += size;
    return ptr;
  }

  #grow(need: number): void {
    const exact = Math.ceil(need / PAGE);
    // By at least a quarter, so that many small networks do not each renew the views; near the limit, what is needed.
    const ample = Math.max(exact, Math.ceil(this.#backing.buffer.byteLength / 4 / PAGE));
    try {
      this.#backing.grow(ample);
      return;
    } catch (cause) {
      if (ample === exact) throw this.#fullError(exact, cause);
    }
    try {
      this.#backing.grow(exact);
    } catch (cause) {
      throw this.#fullError(exact, cause);
    }
  }

  #fullError(pages: number, cause: unknown): CodedError {
    return new CodedError(
      failure(
        "tensor.out-of-memory",
        `the tensor memory cannot grow by ${pages * 64} KiB beyond ${Math.round(this.#top / 1_048_576)} MiB; use smaller batches or free networks that are done`,
        { cause },
      ),
    );
  }
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / ALIGN) * ALIGN;
}
