/**
 * The part of a world that one agent's environment needs. Both rungs of the cluster world have it, and more.
 * Owns: the port. Not here: any world (sim/, adapters/): control never imports one.
 */
import type { Action, Allocation, NodeRoom } from "../../../act/index.ts";
import type { Ms, Result, WorkloadId } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";

export interface WorkloadPort {
  readonly now: Ms;
  /** Runs until the given moment, which is not before now. */
  advance(until: Ms): void;
  read(workload: WorkloadId): WorkloadReading;
  allocation(workload: WorkloadId): Allocation;
  apply(action: Action): Result<Allocation>;
  nodes(workload: WorkloadId): readonly NodeRoom[];
}
