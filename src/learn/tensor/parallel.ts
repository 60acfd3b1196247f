/**
 * Work on several threads, seen from the pure side.
 * Owns: the ports (`WorkerPool`, `ShardGroup`), what a thread can be asked to do, and the order in which shards are
 * added. Not here: threads (adapters/runtime).
 *
 * Closures cannot cross threads, so work is named by `{kind, config}` and built there from a registry that both sides
 * import. A batch is cut into a fixed number of shards, whatever the number of threads; shard gradients are added in
 * shard order. So one, two or four threads give the same bytes.
 */

import type { Kernels } from "./kernels.ts";

export interface JobName {
  readonly kind: string;
  /** Plain data (structured clone). A typed array over a SharedArrayBuffer is shared, not copied. */
  readonly config: unknown;
}

/** What a task may use besides its config. */
export interface TaskContext {
  /** A set of its own, new for each task. */
  readonly kernels: Kernels;
  /** True once the caller has given up: return early. A task that does not within half a second is ended. */
  isCancelled(): boolean;
  progress(fraction: number): void;
}

/** One piece of work with one plain result: a rollout, a seed, an evaluation. */
export type TaskKind = (config: unknown, context: TaskContext) => unknown;

/** Where one shard's step reads and writes. */
export interface ShardIo {
  readonly params: Float32Array;
  readonly data: Float32Array;
  /** To be overwritten in full. */
  readonly gradient: Float32Array;
}

/** A model that computes the gradient of one shard of a batch. Every thread has one, with private memory. */
export interface ShardModel {
  readonly paramCount: number;
  /** Floats of input that one shard gets per step. */
  readonly dataCount: number;
  /** Returns the shard's loss. Losses and gradients of all shards are added up, so divide by the whole batch. */
  compute(io: ShardIo): number;
  dispose(): void;
}

export type ModelKind = (config: unknown, kernels: Kernels) => ShardModel;

/** All that threads can be asked for; the caller and the worker's entry import the same one. */
export interface JobKinds {
  readonly tasks: Readonly<Record<string, TaskKind>>;
  readonly models: Readonly<Record<string, ModelKind>>;
}

export interface TaskOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (fraction: number) => void;
}

export interface WorkerPool {
  readonly threads: number;
  /** The task's result. Tasks wait in order for a free thread. */
  run(job: JobName, options?: TaskOptions): Promise<unknown>;
  /** Threads of its own that compute one model's gradients together until it is closed. */
  openShards(job: JobName, options: { readonly shards: number }): Promise<ShardGroup>;
  /** Ends all threads; what is still running fails with `threads.closed`. */
  close(): Promise<void>;
}

export interface ShardGroup {
  readonly shards: number;
  /** Shared with all threads: write the parameters here before a step. */
  readonly params: Float32Array;
  /** One shard's input: write it here before a step. */
  data(shard: number): Float32Array;
  /** Σ of the shards' gradients after a step. */
  readonly gradient: Float32Array;
  /** Computes all shards, adds them in order, resolves to Σ of the losses. */
  step(options?: { readonly signal?: AbortSignal }): Promise<number>;
  close(): Promise<void>;
}

/** ((g₀ + g₁) + g₂) + …, each sum rounded to float32: the same on every machine and for any number of threads. */
export function addShards(gradients: readonly Float32Array[], into: Float32Array): void {
  const [first, ...rest] = gradients;
  if (!first) return;
  into.set(first);
  for (const gradient of rest) {
    for (let i = 0; i < into.length; i++) into[i]! += gradient[i]!;
  }
}
