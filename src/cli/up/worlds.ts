/**
 * The managed cluster and its twin: the same nodes, workloads, seed and requests, under different controllers.
 * Owns: opening both, and the ports through which a loop meets one of them. Not here: simulating (sim).
 */
import type { Allocation } from "../../act/index.ts";
import type { Failure, Ms, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { NodeSource } from "../../control/loop/index.ts";
import type { Slo, TelemetrySource, WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Application, ClusterWorld } from "../../sim/index.ts";
import { eventWorld } from "../../sim/index.ts";
import { nodesFor } from "./demo-cluster.ts";
import type { DemoWorkload } from "./demo-workloads.ts";

export interface Placed {
  readonly workload: DemoWorkload;
  /** The release that it runs. */
  readonly application: Application;
  readonly slo: Slo;
  readonly have: Allocation;
}

export function openWorld(placed: readonly Placed[], { seed, start }: { readonly seed: number; readonly start: Ms }) {
  return eventWorld({
    seed,
    start,
    nodes: nodesFor(placed.length),
    workloads: placed.map(({ workload: { id, load }, application, slo, have }) => ({
      id,
      application,
      load,
      slo,
      initial: have,
      resize: "in-place" as const,
    })),
  });
}

/** A world's readings, as a loop asks for them; while telemetry is lost, none. */
export class WorldTelemetry implements TelemetrySource {
  readonly #world: ClusterWorld;
  readonly #isLost: (workload: WorkloadId) => boolean;
  readonly #ready = new Map<WorkloadId, number>();

  constructor(world: ClusterWorld, isLost: (workload: WorkloadId) => boolean) {
    this.#world = world;
    this.#isLost = isLost;
  }

  async read(workload: WorkloadId) {
    if (this.#isLost(workload)) return err(lost(workload));
    const reading: WorkloadReading = this.#world.read(workload);
    this.#ready.set(workload, reading.pods.filter(({ readyAt }) => readyAt !== null).length);
    return ok(reading);
  }

  /**
   * Ready pods at the newest reading. A world is not read a second time for it: kills are told once, and they are the
   * controller's to hear.
   */
  ready(workload: WorkloadId): number {
    return this.#ready.get(workload) ?? this.#world.allocation(workload).replicas;
  }
}

const lost = (workload: WorkloadId): Failure =>
  failure("plane.telemetry-lost", `the telemetry of ${workload} is lost, as was asked for; it comes back by itself`, {
    retry: true,
  });

export const nodeSource = (world: ClusterWorld): NodeSource => ({
  nodes: async (workload) => ok(world.nodes(workload)),
});
