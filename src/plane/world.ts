/**
 * The world that a plane manages: where readings come from, where actions go, and what else there is to know of it.
 * Owns: the port. Not here: who implements it (cli/up: a simulated cluster; adapters: a real one).
 *
 * Only telemetry, actuator and clock are needed. Truth, a twin, faults and events are what a simulated world has besides;
 * a plane without them measures by readings alone and compares with nobody. Any world may tell of a fleet.
 */
import type { Actuator } from "../act/index.ts";
import type { Bytes, Clock, ManualClock, Ms, Resource, Result, WorkloadId } from "../base/index.ts";
import type { FaultName, ReleaseDocument, Severity } from "../contract/index.ts";
import type { Measured } from "../control/index.ts";
import type { NodeSource } from "../control/loop/index.ts";
import type { Slo, TelemetrySource } from "../observe/telemetry/index.ts";

export interface World extends WorldSide {
  /** Said by the API: "simulated". */
  readonly kind: string;
  readonly clock: WorldClock;
  /** The same workloads and requests under their fallbacks alone. */
  readonly twin?: WorldSide;
  readonly faults?: WorldFaults;
  readonly events?: WorldEvents;
  readonly fleet?: WorldFleet;
}

/** What a loop meets: of the managed world, or of its twin. */
export interface WorldSide {
  readonly telemetry: TelemetrySource;
  readonly actuator: Actuator;
  /** Without it room is taken for unlimited. */
  readonly nodes?: NodeSource;
  /** What really happened in the step that has just ended; it lies over what readings say. For accounts and charts only. */
  readonly truth?: Truth;
}

export interface Truth {
  /** Since it was last asked. */
  measure(workload: WorkloadId, slo: Slo): Partial<Measured>;
}

export type WorldClock =
  /** Time passes only when the plane moves it: the world first, its clock after it. */
  | { readonly kind: "moved"; readonly clock: ManualClock; advance(until: Ms): void }
  /** Time passes by itself. */
  | { readonly kind: "wall"; readonly clock: Clock };

export interface ActiveFault {
  readonly workload: string;
  readonly fault: FaultName;
  /** Of world time. */
  readonly until: number;
}

/** Disturbances that a person may ask for. */
export interface WorldFaults {
  /** In force now; they survive a restart with the plane. */
  readonly active: readonly ActiveFault[];
  /** Begins it, and says in words what is wrong from now on; a failure where this world has no such fault. */
  inject(workload: WorkloadId, fault: FaultName, now: Ms): Result<string>;
}

/** Something that came or ended by itself. */
export interface WorldEvent {
  readonly workload: string;
  readonly severity: Severity;
  readonly kind: string;
  readonly text: string;
}

export interface WorldEvents {
  /** What came or ended until now. */
  moveTo(now: Ms): readonly WorldEvent[];
  /** What may be behind a workload's trouble, the likeliest first. */
  causesOf(workload: WorkloadId): readonly string[];
  /** null where nobody knows. */
  releaseOf(workload: WorkloadId): ReleaseDocument | null;
}

/** Workloads that come and go, and the machines that they share. */
export interface WorldFleet {
  /** As it is now; what is done on hosts is since the last look. */
  look(): FleetLook;
}

export interface FleetLook {
  readonly present: readonly WorkloadId[];
  /** null where the world does not tell. */
  readonly hosts: readonly HostLook[] | null;
}

export interface HostLook {
  readonly name: string;
  readonly cores: number;
  /** That containers may reserve, and that is reserved. */
  readonly memory: Bytes;
  readonly reserved: Bytes;
  /** Containers: able to work or being started, and paused for nobody. */
  readonly tenants: readonly { readonly workload: WorkloadId; readonly active: number; readonly spare: number }[];
  /** null where the world does not tell. */
  readonly work: HostWork | null;
}

export interface HostWork {
  /** On average: cores that it would use alone, cores that it uses, requests at work. */
  readonly tenants: readonly {
    readonly workload: WorkloadId;
    readonly wanted: number;
    readonly used: number;
    readonly busy: number;
  }[];
  /** Of the time at work: lost because `by` wants the resource too, or, where that is null, because containers start. */
  readonly losses: readonly {
    readonly workload: WorkloadId;
    readonly by: WorkloadId | null;
    readonly resource: Resource;
    readonly share: number;
  }[];
}
