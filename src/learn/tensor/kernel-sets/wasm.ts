/**
 * The WebAssembly kernel set: kernels/*.c, compiled for 128-bit SIMD.
 * The bytes come in as an argument (src/adapters/runtime reads them from disk, a page fetches them), so this runs in any
 * engine with wasm SIMD, without threads or shared memory.
 */

import { CodedError, failure } from "../../../base/index.ts";
import type { Kernels } from "../kernels.ts";
import { type GrowableBuffer, Memory } from "../memory.ts";
import { type WasmModule, wasmApi } from "./webassembly.ts";

const PAGE = 65_536;
const PAGES_PER_MIB = 16;

/** Every kernel is an export of the same name; each takes numbers as they are. */
type Exports = Omit<Kernels, "name" | "memory"> & {
  /** First byte after the module's stack, constants and packing area. */
  readonly __heap_base: { readonly value: number };
  readonly memory: GrowableBuffer;
};

/** Compiles once what many kernel sets (one per thread or per test) can share. */
export function compileKernels(bytes: Uint8Array): WasmModule {
  if (!wasmApi) throw unusable("this JavaScript engine has no WebAssembly");
  try {
    return new wasmApi.Module(bytes);
  } catch (cause) {
    throw unusable("this JavaScript engine does not accept kernels.wasm (128-bit SIMD is needed)", cause);
  }
}

/** A fresh set with its own memory. */
export function wasmKernels(
  source: Uint8Array | WasmModule,
  { initialMiB = 1 }: { initialMiB?: number } = {},
): Kernels {
  const module = source instanceof Uint8Array ? compileKernels(source) : source;
  if (!wasmApi) throw unusable("this JavaScript engine has no WebAssembly");
  const exports = new wasmApi.Instance(module, {}).exports as unknown as Exports;
  const reserved = exports.__heap_base.value;
  const missing = reserved + initialMiB * PAGES_PER_MIB * PAGE - exports.memory.buffer.byteLength;
  if (missing > 0) exports.memory.grow(Math.ceil(missing / PAGE));
  return kernelsOf(exports, new Memory(exports.memory, { reserved }));
}

/** The exports themselves, not wrappers around them: a wrapper would cost as much as the smallest kernels. */
function kernelsOf(exports: Exports, memory: Memory): Kernels {
  return {
    name: "wasm",
    memory,
    linearForward: exports.linearForward,
    linearBackwardInput: exports.linearBackwardInput,
    linearBackwardParams: exports.linearBackwardParams,
    gemm: exports.gemm,
    activationForward: exports.activationForward,
    activationBackward: exports.activationBackward,
    axpy: exports.axpy,
    scale: exports.scale,
    sumSquares: exports.sumSquares,
    softmaxForward: exports.softmaxForward,
    softmaxBackward: exports.softmaxBackward,
    layerNormForward: exports.layerNormForward,
    layerNormBackward: exports.layerNormBackward,
    gruForward: exports.gruForward,
    gruBackward: exports.gruBackward,
    lstmForward: exports.lstmForward,
    lstmBackward: exports.lstmBackward,
    adam: exports.adam,
    sgd: exports.sgd,
    softUpdate: exports.softUpdate,
  };
}

function unusable(why: string, cause?: unknown): CodedError {
  return new CodedError(
    failure(
      "kernels.wasm-unusable",
      `${why}; use a current engine, or the slow reference kernels (COXSWAIN_KERNELS=reference)`,
      { cause },
    ),
  );
}
