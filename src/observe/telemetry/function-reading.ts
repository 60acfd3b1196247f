/**
 * What a controller sees of one serverless function: activation records and counters, as the platform's stores have them.
 * Owns: the shape of a reading. Missing values are null, never zero and never NaN.
 * Not here: where it comes from (sim/ and adapters/), what a policy makes of it (control/tasks).
 */
import type { Ms, PerSecond, Ratio, WorkloadId } from "../../base/index.ts";

export interface FunctionReading {
  readonly workload: WorkloadId;
  /** When the newest measurement in it was taken: less than now by the pipeline's delay. */
  readonly at: Ms;
  /** What is asked for. Read from the platform's API, so never late: cpu.shares and MiB of a container, and how many of them. */
  readonly setting: { readonly shares: number; readonly memory: number; readonly containers: number };
  /** The latency that the 99th percentile is to keep. */
  readonly slo: Ms;
  /** Containers that can work, and that are being started. */
  readonly ready: number;
  readonly starting: number;
  /** Means over the window, of what its containers were granted: 1,024 shares count as a core, so CPU may exceed 1. */
  readonly use: { readonly cpu: Ratio | null; readonly memory: Ratio | null };
  /** 99th percentiles of the activations that ended within the window, end to end and by part; null when none did. */
  readonly latency: Ms | null;
  readonly execution: Ms | null;
  readonly waiting: Ms | null;
  readonly coldStart: Ms | null;
  /** Activations per second over the window: that came, that were answered, that were refused, dropped or killed. */
  readonly offered: PerSecond | null;
  readonly completed: PerSecond | null;
  readonly failed: PerSecond | null;
  /** Containers that were killed for memory within the window. */
  readonly kills: number;
}
