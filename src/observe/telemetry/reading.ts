/**
 * What a controller sees of one workload: the newest that the metrics pipeline delivered.
 * Owns: the shape of a reading. Missing values are null, never zero and never NaN.
 * Not here: where it comes from (sim/ and adapters/), what a policy makes of it (control/tasks).
 *
 * Every controller, learned or not, sees the same reading: there is no second, better view for anyone.
 */
import type { Bytes, Millicores, Ms, PerSecond, Ratio, WorkloadId } from "../../base/index.ts";

/** What is known of another size that a pod was asked to take in place; absent where nothing is to change. */
export type ResizeState = "in-progress" | "deferred" | "infeasible";

export interface PodReading {
  readonly pod: string;
  readonly createdAt: Ms;
  /** When it became ready; null while it starts, or restarts after a kill. */
  readonly readyAt: Ms | null;
  readonly cpuLimit: Millicores;
  readonly memoryLimit: Bytes;
  /** Mean use over the metrics window; null when the sample is missing. */
  readonly cpu: Millicores | null;
  readonly memory: Bytes | null;
  readonly restarts: number;
  readonly resize?: ResizeState;
}

export interface OomKill {
  readonly pod: string;
  readonly at: Ms;
  /** The limit that was too small. */
  readonly memoryLimit: Bytes;
}

export interface WorkloadReading {
  readonly workload: WorkloadId;
  /** When the newest measurement in it was taken: less than now by the pipeline's delay. */
  readonly at: Ms;
  /** What is asked for: replicas, and the limits of a pod that starts now. Read from the API, so never late. */
  readonly spec: { readonly replicas: number; readonly cpu: Millicores; readonly memory: Bytes };
  readonly pods: readonly PodReading[];
  /** Use over limit, over the pods that have a sample. I/O and network: over what a node grants one pod. */
  readonly use: {
    readonly cpu: Ratio | null;
    readonly memory: Ratio | null;
    readonly io: Ratio | null;
    readonly network: Ratio | null;
  };
  /** At the workload's own SLO percentile, as clients see it, over the SLO window; null when nothing finished. */
  readonly latency: Ms | null;
  /** Requests per second over the metrics window: that came, that were answered in time, that were not answered. */
  readonly offered: PerSecond | null;
  readonly completed: PerSecond | null;
  readonly failed: PerSecond | null;
  /** Kills since the last reading. Events come from the API server, so they are never missing. */
  readonly ooms: readonly OomKill[];
}
