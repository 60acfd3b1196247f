/** What goes between the calling thread and its workers, besides what they read in shared memory. */

import { type Failure, failure, failureOf } from "../../base/index.ts";
import type { JobName } from "../../learn/tensor/index.ts";
import type { KernelSetName } from "./load-kernels.ts";

/** A failure without its cause, which need not survive the way between threads. */
export type PlainFailure = Omit<Failure, "cause">;

export type WorkerData =
  | {
      readonly role: "tasks";
      readonly kernels: KernelSetName;
      readonly cancel: SharedArrayBuffer;
      /** What the threads of a pool have in common; undefined where they have nothing. */
      readonly memory: SharedArrayBuffer | undefined;
      /** Plain data for the entry file; undefined where it needs none. */
      readonly setup: unknown;
    }
  | {
      readonly role: "shards";
      readonly kernels: KernelSetName;
      readonly job: JobName;
      readonly block: SharedArrayBuffer;
      readonly layout: ShardLayout;
      /** This thread computes shards member, member + members, … */
      readonly member: number;
      readonly members: number;
    };

export interface ShardLayout {
  readonly shards: number;
  readonly paramCount: number;
  readonly dataCount: number;
}

export interface ToTaskWorker {
  readonly id: number;
  readonly job: JobName;
}

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly id: number; readonly fraction: number }
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly failure: PlainFailure };

/** A task's own coded failure keeps its code; anything else thrown is a crash of the job. */
export function plainFailure(thrown: unknown, job: JobName): PlainFailure {
  const { code, message, retry } =
    failureOf(thrown) ??
    failure(
      "threads.job-crashed",
      `the job '${job.kind}' crashed in its thread: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`,
    );
  return { code, message, retry };
}
