/** Entry of a lane's thread: takes kernel calls from the ring and computes them in the memory it shares. */

import { parentPort, workerData } from "node:worker_threads";
import { unwrap } from "../../base/index.ts";
import type { GrowableBuffer, Kernels, WasmModule } from "../../learn/tensor/index.ts";
import { sharedWasmKernels } from "../../learn/tensor/index.ts";
import { KERNEL_NAMES, LaneRing, type RingCall } from "./lane-ring.ts";
import { findAddon } from "./native-addon.ts";
import { nativeKernels } from "./native-kernels.ts";

export interface LaneData {
  readonly memory: GrowableBuffer;
  readonly ring: SharedArrayBuffer;
  readonly lane: number;
  readonly lanes: number;
  /** The compiled wasm kernels, or null for the native ones. */
  readonly module: WasmModule | null;
}

const { memory, ring, lane, lanes, module } = workerData as LaneData;
const calls = new LaneRing(ring);
let kernels = openSet();
let knownBytes = memory.buffer.byteLength;

parentPort?.postMessage("ready");
try {
  for (;;) calls.serve(compute);
} finally {
  // The caller may be asleep, deaf to this thread's end: it must be woken.
  calls.fail();
}

function openSet(): Kernels {
  return module
    ? sharedWasmKernels(module, { memory, lane, lanes })
    : nativeKernels(unwrap(findAddon()), { backing: memory, lane });
}

function compute({ kernel, memoryBytes, args }: RingCall): void {
  if (memoryBytes > knownBytes && !module) {
    // The engine tells this thread of the growth at its next pause; the addon must know before it is called.
    while (memory.buffer.byteLength < memoryBytes);
    kernels = openSet();
    knownBytes = memory.buffer.byteLength;
  }
  const name = KERNEL_NAMES[kernel];
  if (!name) throw new RangeError(`no kernel has the number ${kernel}`);
  (kernels[name] as (...args: number[]) => void)(...args);
}
