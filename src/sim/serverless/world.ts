/**
 * The serverless world's face, the same for the fluid and the event rung. START READING HERE, then platform.ts.
 * Owns: how a world is driven, read and scored. Not here: either rung (fluid/, event/), functions (functions.ts).
 *
 * A world never knows who drives it: it is read through activation records and counters, changed through settings, and
 * scored on the truth at the callers' side, which no controller sees.
 */
import type { Ms, Resource, Result, WorkloadId } from "../../base/index.ts";
import type { ActivationRecord, FunctionReading } from "../../observe/telemetry/index.ts";
import type { FunctionSetting } from "./setting.ts";
import type { FunctionSpec } from "./spec.ts";

/** How a decision came about: what its controller is charged for it, in time of the platform. */
export interface DecisionCharge {
  /** From looking to asking: measuring, inference, talking to others. */
  readonly takes: Ms;
  /** It begins only when the decision in turn before it is done: a controller that serves its functions one by one. */
  readonly inTurn: boolean;
}

export type { ActivationOutcome, ActivationRecord } from "../../observe/telemetry/index.ts";

/** What happened to one function between two looks. */
export interface FunctionTruth {
  readonly from: Ms;
  readonly to: Ms;
  readonly arrived: number;
  readonly completed: number;
  /** With their container, for memory. */
  readonly killed: number;
  /** Waited too long, or the function was removed. */
  readonly dropped: number;
  /** The queue was full. */
  readonly refused: number;
  /** At `to`, waiting or at work. Over all time, arrived = completed + killed + dropped + refused + inFlight. */
  readonly inFlight: number;
  /** End to end, of those that completed since the last look; null when none did. */
  readonly p50: Ms | null;
  readonly p99: Ms | null;
  readonly mean: Ms | null;
  readonly latencies: Float64Array;
  /** Completed, but later than the SLO. */
  readonly late: number;
  readonly coldStarts: number;
  /** Core-seconds used, and granted by shares to containers that can work; MiB-seconds likewise. */
  readonly cpuUsed: number;
  readonly cpuGranted: number;
  readonly memoryUsed: number;
  readonly memoryGranted: number;
  readonly containerSeconds: number;
}

/** Who is where: for dashboards and for those who ask who contends with whom. */
export interface InvokerView {
  readonly invoker: string;
  readonly cores: number;
  /** MiB, and what is not reserved. */
  readonly memory: number;
  readonly room: number;
  /** Containers by function: able to work or being started, and paused for nobody. */
  readonly tenants: readonly { readonly workload: WorkloadId; readonly active: number; readonly spare: number }[];
}

/** What activations did on one invoker since the last look, and what they lost to one another there. */
export interface InvokerWork {
  readonly invoker: string;
  /** On average: cores that they would use alone, cores that they use, activations at work. */
  readonly tenants: readonly {
    readonly workload: WorkloadId;
    readonly wanted: number;
    readonly used: number;
    readonly busy: number;
  }[];
  /** `share` of the time at work is lost because `by` wants the resource too; null: because containers are being started. */
  readonly losses: readonly {
    readonly workload: WorkloadId;
    readonly by: WorkloadId | null;
    readonly resource: Resource;
    readonly share: number;
  }[];
}

export interface ServerlessWorld {
  readonly now: Ms;
  readonly functions: readonly WorkloadId[];
  /** Runs until the given moment, which is not before now. */
  advance(until: Ms): void;
  read(workload: WorkloadId): FunctionReading;
  /** What was asked for last and has taken effect. */
  setting(workload: WorkloadId): FunctionSetting;
  /** What is left out stays. The answer is when it takes effect: after the decision's own time and the platform's. */
  apply(workload: WorkloadId, set: Partial<FunctionSetting>, charge?: DecisionCharge): Result<Ms>;
  invokers(): readonly InvokerView[];
  /** Since the last call; null where nobody keeps it: an option, of the event rung alone. For those who look on. */
  work(): readonly InvokerWork[] | null;
  /** A function is registered, with its first containers still to be started; or removed, and those who wait for it with it. */
  add(spec: FunctionSpec): Result<void>;
  remove(workload: WorkloadId): Result<void>;
  /** Records since the last call, in the order of their ends; beyond 65,536 the oldest are lost. */
  takeActivations(): readonly ActivationRecord[];
  /** Since the last call. For scoring only. */
  truth(workload: WorkloadId): FunctionTruth;
}
