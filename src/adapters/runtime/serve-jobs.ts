/**
 * The worker's side of threads: an entry file imports its registry and calls `serveJobs(kinds)`.
 * A task worker takes jobs by message; a shard worker sleeps on a shared word between steps and allocates nothing.
 */

import { parentPort, workerData } from "node:worker_threads";
import type { JobKinds, JobName, Kernels } from "../../learn/tensor/index.ts";
import { findModel, findTask } from "./job-kinds.ts";
import { loadKernels } from "./load-kernels.ts";
import { DONE, LEAVE, ShardMemory, STEP } from "./shard-memory.ts";
import type { FromWorker, ToTaskWorker, WorkerData } from "./thread-messages.ts";
import { plainFailure } from "./thread-messages.ts";

export function serveJobs(kinds: JobKinds): void {
  if (!parentPort) throw new Error("serveJobs belongs into the entry file of a worker thread");
  const data = workerData as WorkerData;
  if (data.role === "tasks") serveTasks(kinds, data);
  else serveShards(kinds, data);
}

/** The memory that this thread has in common with the others of its pool, if it was given any. */
export function threadMemory(): SharedArrayBuffer | undefined {
  const data = workerData as WorkerData;
  return data.role === "tasks" ? data.memory : undefined;
}

/** What the pool's opener had to say to this thread's entry. */
export function threadSetup(): unknown {
  const data = workerData as WorkerData;
  return data.role === "tasks" ? data.setup : undefined;
}

const send = (message: FromWorker): void => parentPort?.postMessage(message);

const PROGRESS_EVERY_MS = 50;

function serveTasks(kinds: JobKinds, { kernels, cancel }: Extract<WorkerData, { role: "tasks" }>): void {
  const cancelled = new Int32Array(cancel);
  const bench = new KernelBench(kernels);
  const runTask = async ({ id, job }: ToTaskWorker): Promise<void> => {
    let told = 0;
    try {
      const value = await findTask(kinds, job)(job.config, {
        kernels: bench.take(),
        isCancelled: () => Atomics.load(cancelled, 0) === id,
        progress: (fraction) => {
          const now = performance.now();
          if (now - told < PROGRESS_EVERY_MS) return;
          told = now;
          send({ kind: "progress", id, fraction });
        },
      });
      send({ kind: "done", id, value });
    } catch (thrown) {
      send({ kind: "failed", id, failure: plainFailure(thrown, job) });
    }
  };
  parentPort?.on("message", (message: ToTaskWorker) => void runTask(message));
  send({ kind: "ready" });
}

/** A set that one task made grow beyond this is not kept for the small ones after it. */
const MOST_KEPT_BYTES = 64 * 2 ** 20;

/**
 * The kernels of a thread's tasks, one task at a time. A set of its own for every task would be megabytes outside of the
 * heap each time, and several full collections a second where tasks are short; so a set is used again, unless the task
 * before left something in its memory: what it kept stays its own, and what it forgot goes with it.
 */
class KernelBench {
  readonly #prefer: WorkerData["kernels"];
  #kept: Kernels | undefined;
  #usedBefore = 0;

  constructor(prefer: WorkerData["kernels"]) {
    this.#prefer = prefer;
  }

  take(): Kernels {
    const kept = this.#kept?.memory;
    const isClean = kept?.used === this.#usedBefore && kept.f32.byteLength <= MOST_KEPT_BYTES;
    if (this.#kept && isClean) return this.#kept;
    const kernels = loadKernels({ prefer: this.#prefer });
    this.#usedBefore = kernels.memory.used;
    this.#kept = kernels;
    return kernels;
  }
}

function serveShards(kinds: JobKinds, data: Extract<WorkerData, { role: "shards" }>): void {
  const { job, layout, member, members } = data;
  const memory = new ShardMemory(data.block, layout);
  try {
    const model = buildModel(kinds, job, data.kernels);
    send({ kind: "ready" });
    for (let seen = 0; ; ) {
      Atomics.wait(memory.control, STEP, seen);
      seen = Atomics.load(memory.control, STEP);
      if (seen === LEAVE) break;
      for (let shard = member; shard < layout.shards; shard += members) {
        const io = memory.io[shard];
        if (io) memory.losses[shard] = model.compute(io);
      }
      Atomics.add(memory.control, DONE, 1);
      Atomics.notify(memory.control, DONE);
    }
    model.dispose();
  } catch (thrown) {
    // The caller may sleep on DONE: it learns of the failure from this message and from the thread's end.
    send({ kind: "failed", id: 0, failure: plainFailure(thrown, job) });
  }
}

function buildModel(kinds: JobKinds, job: JobName, kernels: WorkerData["kernels"]) {
  return findModel(kinds, job)(job.config, loadKernels({ prefer: kernels }));
}
