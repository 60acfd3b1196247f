/**
 * A pool of threads for independent tasks, one task per thread at a time; see learn/tensor/parallel.ts for the port.
 * A thread that crashes fails its own task and is replaced when the next one needs it.
 */

import { Worker } from "node:worker_threads";
import { CodedError, failure } from "../../base/index.ts";
import type { JobKinds, JobName, Kernels, ShardGroup, TaskOptions, WorkerPool } from "../../learn/tensor/index.ts";
import { loadKernels } from "./load-kernels.ts";
import { openShardGroup } from "./shard-group.ts";
import { threadLost, threadsClosed } from "./thread-failures.ts";
import type { FromWorker, ToTaskWorker, WorkerData } from "./thread-messages.ts";

export interface WorkerPoolOptions {
  readonly kinds: JobKinds;
  /** The compiled entry file, which calls `serveJobs` with the same kinds; see `workerEntry`. */
  readonly entry: URL;
  readonly threads: number;
  /** Every thread loads the set of this name. Default: the best that this machine offers. */
  readonly kernels?: Kernels;
  /** For what its threads have in common, besides what jobs bring them: an entry asks for it by `threadMemory()`. */
  readonly memory?: SharedArrayBuffer;
  /** Plain data that every thread's entry asks for by `threadSetup()`, such as the modules that it loads first. */
  readonly setup?: unknown;
  /** Tasks that may wait for a thread. */
  readonly queue?: number;
  /** A thread was lost that had nothing to do; the job is the last one it had done. It is replaced when needed. */
  readonly onIdleLoss?: (why: string, job: JobName | undefined) => void;
}

export function openWorkerPool(options: WorkerPoolOptions): WorkerPool {
  if (!Number.isInteger(options.threads) || options.threads < 1) {
    throw new RangeError(`a pool needs 1 or more threads, not ${options.threads}`);
  }
  return new Pool(options);
}

/** How long a cancelled task may take to return by itself. */
const GRACE_MS = 500;

interface Pending {
  readonly id: number;
  readonly job: JobName;
  readonly options: TaskOptions;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly cancel: Int32Array;
  task: Pending | undefined;
  last: JobName | undefined;
}

class Pool implements WorkerPool {
  readonly threads: number;
  readonly #options: WorkerPoolOptions;
  readonly #kernels: Kernels;
  readonly #queue: Pending[] = [];
  readonly #threads = new Set<Thread>();
  readonly #groups = new Set<ShardGroup>();
  #ids = 0;
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.threads = options.threads;
    this.#kernels = options.kernels ?? loadKernels();
  }

  run(job: JobName, options: TaskOptions = {}): Promise<unknown> {
    const limit = this.#options.queue ?? 1024;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(threadsClosed());
      if (options.signal?.aborted) return reject(options.signal.reason);
      if (this.#queue.length >= limit) return reject(full(limit));
      const id = ++this.#ids;
      const onAbort = () => this.#abort(id);
      const settled = () => options.signal?.removeEventListener("abort", onAbort);
      options.signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.push({
        id,
        job,
        options,
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (reason) => {
          settled();
          reject(reason);
        },
      });
      this.#pump();
    });
  }

  async openShards(job: JobName, { shards }: { readonly shards: number }): Promise<ShardGroup> {
    if (this.#isClosed) throw threadsClosed();
    const { kinds, entry, threads } = this.#options;
    const group = await openShardGroup(job, { kinds, entry, threads, shards, kernels: this.#kernels });
    this.#groups.add(group);
    return group;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(threadsClosed());
    for (const thread of this.#threads) thread.task?.reject(threadsClosed());
    const ends = [...this.#threads].map((thread) => thread.worker.terminate());
    this.#threads.clear();
    await Promise.all([...ends, ...[...this.#groups].map((group) => group.close())]);
    this.#groups.clear();
  }

  #pump(): void {
    while (this.#queue.length > 0 && !this.#isClosed) {
      const thread = [...this.#threads].find((t) => t.task === undefined) ?? this.#startThread();
      if (!thread) return;
      const next = this.#queue.shift();
      if (!next) return;
      try {
        thread.worker.postMessage({ id: next.id, job: next.job } satisfies ToTaskWorker);
      } catch (cause) {
        // The config cannot be cloned. That is this task's failure, and the thread is still free.
        thread.worker.unref();
        next.reject(cause);
        continue;
      }
      thread.task = next;
      thread.last = next.job;
      thread.worker.ref();
    }
  }

  #startThread(): Thread | undefined {
    if (this.#threads.size >= this.threads) return undefined;
    const cancel = new SharedArrayBuffer(4);
    const { memory, setup } = this.#options;
    const data: WorkerData = { role: "tasks", kernels: this.#kernels.name, cancel, memory, setup };
    const worker = new Worker(this.#options.entry, { workerData: data });
    const thread: Thread = { worker, cancel: new Int32Array(cancel), task: undefined, last: undefined };
    worker.on("message", (message: FromWorker) => this.#hear(thread, message));
    worker.on("error", (cause) => this.#lose(thread, cause.message, cause));
    worker.on("exit", (code) => this.#lose(thread, `it ended with code ${code}`));
    this.#threads.add(thread);
    return thread;
  }

  #hear(thread: Thread, message: FromWorker): void {
    const { task } = thread;
    if (message.kind === "ready" || message.id !== task?.id) return;
    if (message.kind === "progress") {
      task.options.progress?.(message.fraction);
      return;
    }
    thread.task = undefined;
    // An idle thread does not keep the process alive.
    thread.worker.unref();
    if (task.options.signal?.aborted) task.reject(task.options.signal.reason);
    else if (message.kind === "done") task.resolve(message.value);
    else task.reject(new CodedError(message.failure));
    this.#pump();
  }

  #lose(thread: Thread, why: string, cause?: unknown): void {
    if (!this.#threads.delete(thread)) return;
    const { task } = thread;
    thread.task = undefined;
    if (task === undefined) this.#options.onIdleLoss?.(why, thread.last);
    else task.reject(task.options.signal?.aborted ? task.options.signal.reason : lost(task, why, cause));
    this.#pump();
  }

  #abort(id: number): void {
    const at = this.#queue.findIndex((waiting) => waiting.id === id);
    if (at >= 0) {
      for (const waiting of this.#queue.splice(at, 1)) waiting.reject(waiting.options.signal?.reason);
      return;
    }
    const thread = [...this.#threads].find((t) => t.task?.id === id);
    if (!thread) return;
    Atomics.store(thread.cancel, 0, id);
    const grace = setTimeout(() => {
      if (thread.task?.id === id) void thread.worker.terminate();
    }, GRACE_MS);
    grace.unref();
  }
}

function lost({ job }: Pending, why: string, cause: unknown): CodedError {
  return threadLost(`the thread of the job '${job.kind}'`, why, cause);
}

function full(limit: number): CodedError {
  return new CodedError(
    failure("threads.queue-full", `${limit} tasks are waiting for a thread already; wait for some to finish`, {
      retry: true,
    }),
  );
}
