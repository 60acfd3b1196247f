/**
 * Runs jobs on worker threads, one job per thread at a time.
 * The first failure stops the rest; what was finished before it has been handed over already.
 */

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { CodedError, failure } from "../../base/index.ts";
import type { FromWorker, JobName, ToWorker, WorkerSetup } from "./messages.ts";

/** How long a thread may take to end by itself before it is ended. */
const GRACE_MS = 500;

export interface PoolOptions {
  readonly jobs: readonly JobName[];
  readonly setup: WorkerSetup;
  /** 0: one thread per core. */
  readonly workers: number;
  readonly signal: AbortSignal;
  onProgress(jobIndex: number, fraction: number): void;
  /** Called once per finished job, before the thread gets its next one. */
  onDone(jobIndex: number, outcome: { readonly result: unknown; readonly seconds: number }): void;
}

export function threadCount(workers: number, jobs: number): number {
  return Math.max(1, Math.min(workers === 0 ? availableParallelism() : workers, jobs));
}

export async function runPool(options: PoolOptions): Promise<void> {
  const { jobs, signal } = options;
  if (jobs.length === 0) return;
  signal.throwIfAborted();
  const queue = jobs.keys();
  const threads = Array.from({ length: threadCount(options.workers, jobs.length) }, () => startThread(options.setup));
  const stopAll = () => {
    for (const thread of threads) thread.postMessage({ kind: "stop" } satisfies ToWorker);
  };
  signal.addEventListener("abort", stopAll, { once: true });
  try {
    await Promise.all(threads.map((thread) => drain(thread, queue, options)));
  } finally {
    signal.removeEventListener("abort", stopAll);
    stopAll();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

function startThread(setup: WorkerSetup): Worker {
  return new Worker(new URL("./worker.js", import.meta.url), { workerData: setup });
}

async function drain(thread: Worker, queue: Iterator<number>, options: PoolOptions): Promise<void> {
  for (let next = queue.next(); !next.done; next = queue.next()) {
    const index = next.value;
    const outcome = await runOne(thread, index, options);
    options.onDone(index, outcome);
    // A job that ended in time is kept, but a stopped run begins no further one.
    options.signal.throwIfAborted();
  }
}

function runOne(thread: Worker, index: number, options: PoolOptions): Promise<{ result: unknown; seconds: number }> {
  const { signal } = options;
  const job = options.jobs[index] as JobName;
  const name = `${job.studyId}, unit '${job.unit}', seed ${job.seed}`;
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined;
    const settle = (finish: () => void) => {
      clearTimeout(grace);
      signal.removeEventListener("abort", onAbort);
      for (const event of ["message", "error", "exit"]) thread.removeAllListeners(event);
      finish();
    };
    const onAbort = () => {
      grace = setTimeout(() => settle(() => reject(signal.reason)), GRACE_MS);
    };
    thread.on("message", (message: FromWorker) => {
      if (message.kind === "progress") options.onProgress(index, message.fraction);
      else if (message.kind === "done") settle(() => resolve(message));
      else if (signal.aborted) settle(() => reject(signal.reason));
      else {
        const { code, retry } = message.failure;
        const text = `${name} failed: ${message.failure.message}\nfinished jobs are kept; the same command goes on from there`;
        settle(() => reject(new CodedError(failure(code, text, { retry }))));
      }
    });
    thread.on("error", (cause) => settle(() => reject(crashed(name, cause.message, cause))));
    thread.on("exit", (code) => settle(() => reject(crashed(name, `its thread ended with code ${code}`))));
    signal.addEventListener("abort", onAbort, { once: true });
    thread.postMessage({ kind: "run", job } satisfies ToWorker);
  });
}

function crashed(name: string, why: string, cause?: unknown): CodedError {
  const text = `${name} crashed: ${why}; finished jobs are kept, run the same command again to go on`;
  return new CodedError(failure("study.crashed", text, { cause }));
}
