/**
 * The microservices world's face, the same for the fluid and the event rung.
 * Owns: how a world is driven, read, traced, disturbed and scored. Not here: either rung (fluid/, event/), applications.
 *
 * A world never knows who drives it: it is read through telemetry and spans, changed through limits and replicas, and
 * scored on the truth at the clients' side, which no controller sees.
 */
import type { Injection } from "../../act/faults/index.ts";
import type { Limits, Ms, Result } from "../../base/index.ts";
import type {
  InstanceReading,
  NodeReading,
  RequestReading,
  Span,
  WorkloadReading,
} from "../../observe/telemetry/index.ts";
import type { MicroserviceApplication } from "./applications/index.ts";

export interface RequestTruth {
  readonly request: string;
  readonly arrived: number;
  readonly completed: number;
  readonly timedOut: number;
  /** Refused somewhere on the way: a queue was full, or nobody was there. */
  readonly dropped: number;
  /** Not ended yet; over all time, arrived = completed + timedOut + dropped + inFlight. */
  readonly inFlight: number;
  /** Of the requests that were answered since the last look; null when none was. */
  readonly p50: Ms | null;
  readonly p99: Ms | null;
  readonly mean: Ms | null;
  /** How long each of those took, or as many of them as the rung samples, in no order that means anything. */
  readonly latencies: Float64Array;
  /** Answered, but later than the SLO; those that were not answered at all are counted above. */
  readonly late: number;
}

/** What happened between two looks. */
export interface ApplicationTruth {
  readonly from: Ms;
  readonly to: Ms;
  readonly requests: readonly RequestTruth[];
  /** Limits in force integrated over time and containers: core-seconds, MB, MiB-seconds, MB, MB. */
  readonly limits: Limits;
  /** Core-seconds that were burnt, by stressors too. */
  readonly cpuUsed: number;
}

export interface MicroserviceWorld {
  readonly now: Ms;
  readonly application: MicroserviceApplication;
  /** By request type. */
  readonly slos: readonly Ms[];
  /** Runs until the given moment, which is not before now. */
  advance(until: Ms): void;
  /** The newest that the metrics pipeline delivered of one service. */
  readService(service: string): WorkloadReading;
  readInstances(): readonly InstanceReading[];
  readRequests(): readonly RequestReading[];
  readNodes(): readonly NodeReading[];
  /** Spans that have arrived since the last call, in the order they ended. */
  takeSpans(): readonly Span[];
  /** Takes effect after the latencies of Table 3.5. Refused where the node has not so much. The answer is what was asked. */
  setLimits(instance: string, limits: Partial<Limits>): Result<Limits>;
  /** Containers start cold or warm, and stop when they are done with what they have. The answer is how many are asked for. */
  scale(service: string, replicas: number): Result<number>;
  /** A guarded injection; it ends by itself. */
  inject(injection: Injection): void;
  /** Whether an injection has a target here. */
  hasTarget(injection: Injection): boolean;
  /** Since the last call. For scoring only. */
  truth(): ApplicationTruth;
}
