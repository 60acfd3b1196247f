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

interface Thread {
  readonly worker: Worker;
  /** Rejects when the thread is gone, at work or idle. */
  readonly lost: Promise<never>;
  /** The job it works on, or the last one. */
  name: string;
}

export async function runPool(options: PoolOptions): Promise<void> {
  const { jobs, signal } = options;
  if (jobs.length === 0) return;
  signal.throwIfAborted();
  const queue = jobs.keys();
  const threads = Array.from({ length: threadCount(options.workers, jobs.length) }, () => startThread(options));
  const stopAll = () => {
    for (const { worker } of threads) worker.postMessage({ kind: "stop" } satisfies ToWorker);
  };
  signal.addEventListener("abort", stopAll, { once: true });
  try {
    const drained = Promise.all(threads.map((thread) => drain(thread, queue, options)));
    // A job may leave something behind that brings its thread down while others are still at work.
    await Promise.race([drained, ...threads.map(({ lost }) => lost)]);
  } finally {
    signal.removeEventListener("abort", stopAll);
    stopAll();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread({ setup, signal }: PoolOptions): Thread {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: setup });
  const lost = new Promise<never>((_resolve, reject) => {
    const lose = (why: string, cause?: unknown) =>
      reject(signal.aborted ? signal.reason : crashed(thread.name, why, cause));
    worker.on("error", (cause) => lose(cause.message, cause));
    worker.on("exit", (code) => lose(`its thread ended with code ${code}`));
  });
  const thread: Thread = { worker, lost, name: "a thread without a job" };
  return thread;
}

async function drain(thread: Thread, queue: Iterator<number>, options: PoolOptions): Promise<void> {
  for (let next = queue.next(); !next.done; next = queue.next()) {
    const index = next.value;
    const outcome = await runOne(thread, index, options);
    options.onDone(index, outcome);
    // A job that ended in time is kept, but a stopped run begins no further one.
    options.signal.throwIfAborted();
  }
}

interface Outcome {
  readonly result: unknown;
  readonly seconds: number;
}

async function runOne(thread: Thread, index: number, options: PoolOptions): Promise<Outcome> {
  const { signal } = options;
  const { worker, lost } = thread;
  const job = options.jobs[index] as JobName;
  const name = `${job.studyId}, unit '${job.unit}', seed ${job.seed}`;
  thread.name = name;
  let grace: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const answered = new Promise<Outcome>((resolve, reject) => {
    onAbort = () => {
      grace = setTimeout(() => reject(signal.reason), GRACE_MS);
    };
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "progress") options.onProgress(index, message.fraction);
      else if (message.kind === "done") resolve(message);
      else if (signal.aborted) reject(signal.reason);
      else {
        const { code, retry } = message.failure;
        const text = `${name} failed: ${message.failure.message}\nfinished jobs are kept; the same command goes on from there`;
        reject(new CodedError(failure(code, text, { retry })));
      }
    });
  });
  signal.addEventListener("abort", onAbort, { once: true });
  worker.postMessage({ kind: "run", job } satisfies ToWorker);
  try {
    return await Promise.race([answered, lost]);
  } finally {
    clearTimeout(grace);
    signal.removeEventListener("abort", onAbort);
    worker.removeAllListeners("message");
  }
}

function crashed(name: string, why: string, cause?: unknown): CodedError {
  const text = `${name} crashed: ${why}; finished jobs are kept, run the same command again to go on`;
  return new CodedError(failure("study.crashed", text, { cause }));
}
