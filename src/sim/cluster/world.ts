/**
 * The cluster world's face, the same for the fluid and the event rung.
 * Owns: how a world is driven, read and scored. Not here: either rung (fluid/, event/), workloads (workloads/).
 *
 * A world never knows who drives it: it is read through the metrics pipeline, changed through actions, and scored on
 * the truth at the client's side, which no controller sees.
 */
import type { Action, Allocation, NodeRoom } from "../../act/index.ts";
import type { Ms, Result, WorkloadId } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Application } from "./workloads/application.ts";
import type { Load } from "./workloads/load.ts";

/** What happened to one workload between two looks, on the client's side and on the bill. */
export interface WorkloadTruth {
  readonly from: Ms;
  readonly to: Ms;
  /** Clients' requests. A client that tries again is not a new one: its request ends as its last attempt does. */
  readonly arrived: number;
  readonly completed: number;
  /** The client gave up, for good. */
  readonly timedOut: number;
  /** Refused by a full queue, or with no pod to go to; for good. */
  readonly dropped: number;
  /** In a pod when it was killed. */
  readonly lost: number;
  /** At `to` in a pod, or with a client that will try again. arrived so far = completed + timedOut + dropped + lost + inFlight, over all time. */
  readonly inFlight: number;
  /** From the first attempt to the answer, of completed requests, at the SLO's percentile, over the SLO window that ends at `to`; null when none. */
  readonly latency: Ms | null;
  /** Share of the SLO window's requests that were answered, and within the SLO's latency. */
  readonly withinSlo: number | null;
  /** Use and limit integrated over time and running pods: core-seconds and byte-seconds. */
  readonly cpuUsed: number;
  readonly cpuLimit: number;
  readonly memoryUsed: number;
  readonly memoryLimit: number;
  readonly oomKills: number;
  readonly podsStarted: number;
  readonly podsStopped: number;
  /** Requested CPU and memory at on-demand prices, plus the price of disruptions, in dollars. */
  readonly cost: number;
}

/** A change of the software or of its use, while it runs (the scenarios of the AWARE paper, section 2.3). */
export interface WorkloadUpdate {
  readonly application?: Application;
  readonly load?: Load;
}

export interface ClusterWorld {
  readonly now: Ms;
  readonly workloads: readonly WorkloadId[];
  /** Runs until the given moment, which is not before now. */
  advance(until: Ms): void;
  read(workload: WorkloadId): WorkloadReading;
  /** What a pod that starts now gets, and how many are asked for. */
  allocation(workload: WorkloadId): Allocation;
  /** Does a guarded action; the answer is what is asked for then. Effects take their time. */
  apply(action: Action<Allocation>): Result<Allocation>;
  /** Room for this workload: what nodes have, less what others hold there. */
  nodes(workload: WorkloadId): readonly NodeRoom[];
  /** Since the last call. For scoring only. */
  truth(workload: WorkloadId): WorkloadTruth;
  update(workload: WorkloadId, update: WorkloadUpdate): void;
}
