/**
 * A group of threads that computes one model's gradients shard by shard.
 * The calling thread is member 0 and computes its shards too. Parameters, data and gradients are exchanged in shared
 * memory; a step allocates nothing but its promise. A thread that is lost fails the step and the group, never hangs it.
 */

import { Worker } from "node:worker_threads";
import { CodedError } from "../../base/index.ts";
import {
  addShards,
  type JobKinds,
  type JobName,
  type Kernels,
  type ShardGroup,
  type ShardModel,
} from "../../learn/tensor/index.ts";
import { findModel } from "./job-kinds.ts";
import { DONE, LEAVE, ShardMemory, STEP } from "./shard-memory.ts";
import { threadLost, threadsClosed } from "./thread-failures.ts";
import type { FromWorker, ShardLayout, WorkerData } from "./thread-messages.ts";

export interface ShardGroupOptions {
  readonly kinds: JobKinds;
  readonly entry: URL;
  readonly threads: number;
  readonly shards: number;
  /** The calling thread's set; the other threads load one of the same name, so that all compute the same bits. */
  readonly kernels: Kernels;
}

export async function openShardGroup(job: JobName, options: ShardGroupOptions): Promise<ShardGroup> {
  const { kinds, kernels, shards } = options;
  if (!Number.isInteger(shards) || shards < 1)
    throw new RangeError(`a batch is cut into 1 or more shards, not ${shards}`);
  const model = findModel(kinds, job)(job.config, kernels);
  const layout: ShardLayout = { shards, paramCount: model.paramCount, dataCount: model.dataCount };
  const group = new Group(model, layout, Math.max(1, Math.min(options.threads, shards)));
  try {
    await group.start(job, options);
    return group;
  } catch (error) {
    await group.close();
    throw error;
  }
}

/** Declared here: the language level this project is checked against ends before it. Node has had it since 16. */
type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { async: boolean; value: Promise<string> | string };
const waitAsync = (Atomics as unknown as { waitAsync: WaitAsync }).waitAsync;

class Group implements ShardGroup {
  readonly shards: number;
  readonly gradient: Float32Array;
  readonly #model: ShardModel;
  readonly #block: SharedArrayBuffer;
  readonly #layout: ShardLayout;
  readonly #memory: ShardMemory;
  readonly #members: number;
  readonly #workers: Worker[] = [];
  readonly #gradients: readonly Float32Array[];
  #lost: CodedError | undefined;
  #onLost: (error: CodedError) => void = () => {};
  #isStepping = false;
  #isClosed = false;

  constructor(model: ShardModel, layout: ShardLayout, members: number) {
    this.#model = model;
    this.#layout = layout;
    this.#members = members;
    this.shards = layout.shards;
    this.#block = new SharedArrayBuffer(ShardMemory.bytes(layout));
    this.#memory = new ShardMemory(this.#block, layout);
    this.gradient = new Float32Array(layout.paramCount);
    this.#gradients = this.#memory.io.map((io) => io.gradient);
  }

  get params(): Float32Array {
    return this.#memory.params;
  }

  data(shard: number): Float32Array {
    const io = this.#memory.io[shard];
    if (!io) throw new RangeError(`there is no shard ${shard} of ${this.shards}`);
    return io.data;
  }

  async start(job: JobName, { entry, kernels }: ShardGroupOptions): Promise<void> {
    const ready: Promise<void>[] = [];
    for (let member = 1; member < this.#members; member++) {
      const data: WorkerData = {
        role: "shards",
        kernels: kernels.name,
        job,
        block: this.#block,
        layout: this.#layout,
        member,
        members: this.#members,
      };
      const worker = new Worker(entry, { workerData: data });
      this.#workers.push(worker);
      ready.push(this.#watch(worker));
    }
    await Promise.all(ready);
  }

  async step({ signal }: { readonly signal?: AbortSignal } = {}): Promise<number> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw threadsClosed();
    if (this.#lost) throw this.#lost;
    if (this.#isStepping) throw new Error("a shard group computes one step at a time");
    this.#isStepping = true;
    try {
      const { control } = this.#memory;
      Atomics.store(control, DONE, 0);
      Atomics.add(control, STEP, 1);
      Atomics.notify(control, STEP);
      try {
        this.#computeOwn();
      } finally {
        // Also when this thread's share failed: the others still write, and the next step would count their answers.
        await this.#othersDone(signal);
      }
    } finally {
      this.#isStepping = false;
    }
    addShards(this.#gradients, this.gradient);
    return this.#memory.losses.reduce((sum, loss) => sum + loss, 0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#fail(threadsClosed());
    Atomics.store(this.#memory.control, STEP, LEAVE);
    Atomics.notify(this.#memory.control, STEP);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
    this.#model.dispose();
  }

  #computeOwn(): void {
    for (let shard = 0; shard < this.shards; shard += this.#members) {
      const io = this.#memory.io[shard];
      if (io) this.#memory.losses[shard] = this.#model.compute(io);
    }
  }

  /** Resolves when all other members are done; rejects when one is lost. An abort leaves the group unusable: the others still write. */
  async #othersDone(signal: AbortSignal | undefined): Promise<void> {
    const { control } = this.#memory;
    const onAbort = () => this.#fail(threadsClosed());
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        if (signal?.aborted) throw signal.reason;
        if (this.#lost) throw this.#lost;
        const done = Atomics.load(control, DONE);
        if (done >= this.#members - 1) return;
        const waiting = waitAsync(control, DONE, done);
        if (waiting.async)
          await Promise.race([waiting.value, new Promise<void>((resolve) => (this.#onLost = () => resolve()))]);
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#onLost = () => {};
    }
  }

  /** Resolves when the worker has built its model; from then on its end is the group's failure. */
  #watch(worker: Worker): Promise<void> {
    return new Promise((resolve, reject) => {
      const lose = (error: CodedError) => {
        this.#fail(error);
        reject(error);
      };
      worker.on("message", (message: FromWorker) => {
        if (message.kind === "ready") resolve();
        else if (message.kind === "failed") lose(new CodedError(message.failure));
      });
      worker.on("error", (cause) => lose(threadLost("a training thread", cause.message, cause)));
      worker.on("exit", (code) => lose(threadLost("a training thread", `it ended with code ${code}`)));
    });
  }

  #fail(error: CodedError): void {
    this.#lost ??= error;
    this.#onLost(this.#lost);
  }
}
