/**
 * A queue of kernel calls between one thread that asks and one that computes, in shared memory.
 * A call is its kernel's number and its arguments, as doubles. Both sides count: HEAD calls asked, DONE calls finished.
 */

import type { Kernels } from "../../learn/tensor/index.ts";

export type KernelName = Exclude<keyof Kernels, "name" | "memory">;

/** A kernel's place here is its number in the queue. */
export const KERNEL_NAMES = [
  "linearForward",
  "linearBackwardInput",
  "linearBackwardParams",
  "gemm",
  "activationForward",
  "activationBackward",
  "axpy",
  "scale",
  "softmaxForward",
  "softmaxBackward",
  "layerNormForward",
  "layerNormBackward",
  "gruForward",
  "gruBackward",
  "lstmForward",
  "lstmBackward",
  "adam",
  "sgd",
  "softUpdate",
] as const satisfies readonly KernelName[];

/** A power of two, so that a wrapped counter still goes round in order. */
const SLOTS = 64;
/** Kernel number, number of arguments, bytes of the memory, then up to 17 arguments. */
const SLOT = 24;
const FIRST_ARG = 3;
const HEAD = 0;
const DONE = 1;
/** 1 once the computing side has given up. */
const FAILED = 2;
const CONTROL_BYTES = 64;

export const RING_BYTES = CONTROL_BYTES + SLOTS * SLOT * 8;

/** Between two answers; no kernel call takes this long, so whoever waits longer waits for a thread that is gone. */
const LOST_AFTER_MS = 60_000;

export interface RingCall {
  readonly kernel: number;
  /** How large the memory is for the caller: it may have grown since the last call. */
  readonly memoryBytes: number;
  readonly args: number[];
}

export class LaneRing {
  readonly #control: Int32Array;
  readonly #slots: Float64Array;

  constructor(block: SharedArrayBuffer) {
    this.#control = new Int32Array(block, 0, CONTROL_BYTES / 4);
    this.#slots = new Float64Array(block, CONTROL_BYTES);
  }

  /** The asking side. False when the other one seems lost. */
  push({ kernel, memoryBytes, args }: RingCall): boolean {
    const head = Atomics.load(this.#control, HEAD);
    while (this.#waiting() >= SLOTS) {
      if (!this.#waitForDone()) return false;
    }
    const at = slotOf(head);
    this.#slots[at] = kernel;
    this.#slots[at + 1] = args.length;
    this.#slots[at + 2] = memoryBytes;
    this.#slots.set(args, at + FIRST_ARG);
    Atomics.store(this.#control, HEAD, head + 1);
    Atomics.notify(this.#control, HEAD);
    return true;
  }

  /** The asking side: sleeps until every call is finished. False when the other one seems lost. */
  join(): boolean {
    while (this.#waiting() > 0) {
      if (!this.#waitForDone()) return false;
    }
    return Atomics.load(this.#control, FAILED) === 0;
  }

  /** The computing side: nothing more will be computed. */
  fail(): void {
    Atomics.store(this.#control, FAILED, 1);
    // DONE must change: whoever looked at FAILED just before and is about to sleep on DONE would not hear the call.
    Atomics.add(this.#control, DONE, 1);
    Atomics.notify(this.#control, DONE);
  }

  /** The computing side: sleeps until there is a call, computes it, and counts it. */
  serve(compute: (call: RingCall) => void): void {
    const done = Atomics.load(this.#control, DONE);
    Atomics.wait(this.#control, HEAD, done);
    const at = slotOf(done);
    const end = at + FIRST_ARG + (this.#slots[at + 1] ?? 0);
    compute({
      kernel: this.#slots[at] ?? 0,
      memoryBytes: this.#slots[at + 2] ?? 0,
      args: Array.from(this.#slots.subarray(at + FIRST_ARG, end)),
    });
    Atomics.store(this.#control, DONE, done + 1);
    Atomics.notify(this.#control, DONE);
  }

  /** Calls asked and not finished. The counters wrap after 2³¹ calls, a day of training; their difference does not. */
  #waiting(): number {
    return (Atomics.load(this.#control, HEAD) - Atomics.load(this.#control, DONE)) | 0;
  }

  #waitForDone(): boolean {
    const done = Atomics.load(this.#control, DONE);
    if (Atomics.load(this.#control, FAILED) === 1) return false;
    if (done === Atomics.load(this.#control, HEAD)) return true;
    return Atomics.wait(this.#control, DONE, done, LOST_AFTER_MS) !== "timed-out";
  }
}

const slotOf = (counter: number): number => (counter & (SLOTS - 1)) * SLOT;
