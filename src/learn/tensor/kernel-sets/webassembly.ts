/**
 * The few parts of the WebAssembly API that the kernels use, typed here because neither the language's own library nor
 * Node's types declare them and the browser's would bring the whole DOM along.
 */

import { type GrowableBuffer, MAX_PAGES } from "../memory.ts";

/** A compiled module; its only use is to be instantiated. */
export interface WasmModule {
  readonly [Symbol.toStringTag]?: string;
}

export interface WasmApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: Record<string, unknown> };
  readonly Memory: new (limits: { initial: number; maximum: number }) => GrowableBuffer;
}

/** Undefined where the engine has no WebAssembly (for instance with just-in-time compilation forbidden). */
export const wasmApi = (globalThis as { WebAssembly?: WasmApi }).WebAssembly;

/** A memory that grows in place, for kernel sets that bring none of their own. */
export function growableMemory({ initialMiB }: { initialMiB: number }): GrowableBuffer {
  if (!wasmApi) throw new Error("a growable memory needs WebAssembly");
  return new wasmApi.Memory({ initial: Math.max(1, Math.ceil(initialMiB * 16)), maximum: MAX_PAGES });
}
