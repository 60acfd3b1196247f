/**
 * Kernel sets on several threads over one memory: the form of `KernelLanes` that really runs at the same time.
 * The native and the wasm kernels can; the reference kernels run alone.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type CodedError, unwrap } from "../../base/index.ts";
import type { GrowableBuffer, KernelLanes, Kernels, WasmModule } from "../../learn/tensor/index.ts";
import {
  compileKernels,
  growableMemory,
  laneReserve,
  sharedWasmKernels,
  singleLane,
} from "../../learn/tensor/index.ts";
import { KERNEL_NAMES, LaneRing, RING_BYTES } from "./lane-ring.ts";
import type { LaneData } from "./lane-worker.ts";
import { type KernelSetName, loadKernels } from "./load-kernels.ts";
import { findAddon } from "./native-addon.ts";
import { nativeKernels } from "./native-kernels.ts";
import { packageRoot } from "./package-root.ts";
import { threadLost } from "./thread-failures.ts";
import { workerEntry } from "./worker-entry.ts";

export interface OpenLanes extends KernelLanes {
  /** The calling thread's own set: build networks with it and pass these lanes along. */
  readonly kernels: Kernels;
  close(): Promise<void>;
}

export interface OpenLanesOptions {
  /** Threads in all, the calling one among them: 1 to 4. */
  readonly threads: number;
  readonly prefer?: KernelSetName;
  readonly initialMiB?: number;
}

export async function openKernelLanes({
  threads,
  prefer = "native",
  initialMiB = 16,
}: OpenLanesOptions): Promise<OpenLanes> {
  if (!Number.isInteger(threads) || threads < 1 || threads > 4) {
    throw new RangeError(`kernel lanes run on 1 to 4 threads, not ${threads}`);
  }
  // The set that the usual rules would choose, environment variable included.
  const { name } = loadKernels({ prefer });
  if (threads === 1 || name === "reference") {
    const kernels = loadKernels({ prefer: name, initialMiB });
    return { ...singleLane(kernels), kernels, close: async () => {} };
  }
  const lanes = new Lanes(name, threads, initialMiB);
  try {
    await lanes.isReady;
    return lanes;
  } catch (error) {
    await lanes.close();
    throw error;
  }
}

class Lanes implements OpenLanes {
  readonly kernels: Kernels;
  readonly lanes: readonly Kernels[];
  readonly isReady: Promise<unknown>;
  readonly #helpers: readonly Helper[];

  constructor(name: "wasm" | "native", threads: number, initialMiB: number) {
    const module = name === "wasm" ? sharedModule() : null;
    const reserve = module ? laneReserve(threads) / 1_048_576 : 0;
    const memory = growableMemory({ initialMiB: initialMiB + reserve, shared: true });
    this.kernels = module
      ? sharedWasmKernels(module, { memory, lane: 0, lanes: threads })
      : nativeKernels(unwrap(findAddon()), { backing: memory });
    this.#helpers = Array.from({ length: threads - 1 }, (_, i) => {
      return new Helper({ memory, ring: new SharedArrayBuffer(RING_BYTES), lane: i + 1, lanes: threads, module });
    });
    this.lanes = [...this.#helpers.map((helper) => helper.lane(this.kernels)), this.kernels];
    this.isReady = Promise.all(this.#helpers.map((helper) => helper.isReady));
  }

  join(): void {
    for (const helper of this.#helpers) helper.join();
  }

  async close(): Promise<void> {
    await Promise.all(this.#helpers.map((helper) => helper.close()));
  }
}

/** One thread that computes what it is handed, in order. */
class Helper {
  readonly isReady: Promise<void>;
  readonly #worker: Worker;
  readonly #ring: LaneRing;
  readonly #memory: GrowableBuffer;
  #lost: CodedError | undefined;

  constructor(data: LaneData) {
    this.#ring = new LaneRing(data.ring);
    this.#memory = data.memory;
    this.#worker = new Worker(workerEntry("./lane-worker.ts", import.meta.url), { workerData: data });
    this.isReady = new Promise((resolve, reject) => {
      const lose = (why: string, cause?: unknown) => {
        this.#lost ??= threadLost("a kernel thread", why, cause);
        reject(this.#lost);
      };
      this.#worker.once("message", () => resolve());
      this.#worker.on("error", (cause) => lose(cause.message, cause));
      this.#worker.on("exit", (code) => lose(`it ended with code ${code}`));
    });
    // A lane that waits for work does not keep the process alive.
    this.isReady.then(
      () => this.#worker.unref(),
      () => {},
    );
  }

  /** A kernel set whose calls return at once; their results are there after `join`. */
  lane(own: Kernels): Kernels {
    const calls = KERNEL_NAMES.map((name, kernel) => [name, (...args: number[]) => this.#push(kernel, args)] as const);
    return {
      ...(Object.fromEntries(calls) as unknown as Kernels),
      name: own.name,
      memory: own.memory,
      sumSquares: (x, count) => {
        this.join();
        return own.sumSquares(x, count);
      },
    };
  }

  join(): void {
    if (this.#lost) throw this.#lost;
    if (!this.#ring.join()) throw this.#silent();
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #push(kernel: number, args: number[]): void {
    if (this.#lost) throw this.#lost;
    if (!this.#ring.push({ kernel, memoryBytes: this.#memory.buffer.byteLength, args })) throw this.#silent();
  }

  /** While the calling thread sleeps it can not hear why the other one ended. */
  #silent(): CodedError {
    this.#lost ??= threadLost("a kernel thread", "a call in it failed, or it has not answered for a minute");
    return this.#lost;
  }
}

let compiled: WasmModule | undefined;
function sharedModule(): WasmModule {
  compiled ??= compileKernels(readFileSync(join(packageRoot(), "kernels", "kernels-shared.wasm")));
  return compiled;
}
