/**
 * What a controller sees of an application made of many services: its containers, its requests, its nodes.
 * Owns: the shapes of these readings. As everywhere, what is missing is null, never zero and never NaN.
 * Not here: one workload as an autoscaler sees it (reading.ts), spans (span.ts).
 */
import type { Limits, Ms, PerSecond, Ratio, Resource } from "../../base/index.ts";

/** The dissertation's Table 3.1, from cAdvisor and from perf; counters that only grow, except where it says `bytes`. */
export interface InstanceCounters {
  readonly cpuUsageSecondsTotal: number;
  /** Quota periods in which it ran, and those of them in which it was throttled; cAdvisor has them besides Table 3.1. */
  readonly cpuCfsPeriodsTotal: number;
  readonly cpuCfsThrottledPeriodsTotal: number;
  /** Cores used in the busiest quota period since the scrape before: what an agent on the node sees that reads every one. */
  readonly cpuPeakCores: number;
  readonly memoryUsageBytes: number;
  readonly fsReadSeconds: number;
  readonly fsWriteSeconds: number;
  readonly fsUsageBytes: number;
  readonly networkTransmitBytesTotal: number;
  readonly networkReceiveBytesTotal: number;
  readonly processes: number;
  readonly llcHitLocalDram: number;
  readonly llcMissLocalDram: number;
  readonly llcHitRemoteDram: number;
  readonly llcMissRemoteDram: number;
}

/** One container as telemetry has it: late, noisy, and null where the sample is missing. */
export interface InstanceReading {
  readonly instance: string;
  readonly service: string;
  readonly node: string;
  readonly at: Ms;
  readonly isReady: boolean;
  /** In force now; read from the machine, so never late. */
  readonly limits: Limits;
  /** Between these they may be set. */
  readonly lower: Limits;
  readonly upper: Limits;
  readonly threads: number;
  /** Use over limit, over the metrics window. */
  readonly use: { readonly [R in Resource]: Ratio } | null;
  readonly counters: InstanceCounters | null;
}

/** One type of request as the ingress sees it, over the SLO window. */
export interface RequestReading {
  readonly request: string;
  readonly at: Ms;
  readonly slo: Ms;
  readonly p50: Ms | null;
  readonly p99: Ms | null;
  readonly offered: PerSecond;
  readonly completed: PerSecond;
  readonly failed: PerSecond;
}

/** One machine, read from whoever places containers, so never late. */
export interface NodeReading {
  readonly node: string;
  readonly capacity: Limits;
  /** Of the capacity, what is not promised to a container by its limits; below zero where too much is. */
  readonly room: Limits;
}
