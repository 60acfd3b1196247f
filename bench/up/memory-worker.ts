/**
 * Loaded before everything else into every thread of the process that is measured: what is in use after a collection.
 * Owns: asking all threads and adding up. The bench asks the main thread over its channel; that one asks the others.
 */
import { BroadcastChannel, isMainThread } from "node:worker_threads";

export interface HeapFigures {
  /** Of all threads, after a full collection, in bytes. */
  readonly heapUsed: number;
  readonly threads: number;
  readonly resident: number;
}

/** Long enough for a thread that is in the middle of a step. */
const ANSWER_WITHIN_MS = 3_000;

const channel = new BroadcastChannel("coxswain-bench-memory");
channel.unref();

/** Buffers are counted too: weights and replays live outside the heap. */
function inUse(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

if (isMainThread) {
  let found: number[] = [];
  channel.onmessage = (event: unknown) => {
    const { data } = event as { readonly data: unknown };
    if (typeof data === "number") found.push(data);
  };
  process.on("message", () => {
    found = [inUse()];
    channel.postMessage("measure");
    setTimeout(() => {
      const heapUsed = found.reduce((sum, used) => sum + used, 0);
      const figures: HeapFigures = { heapUsed, threads: found.length, resident: process.memoryUsage.rss() };
      process.send?.(figures);
    }, ANSWER_WITHIN_MS);
  });
} else {
  channel.onmessage = (event: unknown) => {
    if ((event as { readonly data: unknown }).data === "measure") channel.postMessage(inUse());
  };
}
