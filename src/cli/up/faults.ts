/**
 * Faults that a person can inject, each by a mechanism that is really there: the telemetry port fails, the learner throws,
 * more requests come, the software gets slower, a node is gone with its pods.
 * Owns: what a fault does, how long it lasts, and how it ends. Not here: asking for one (plane/commands.ts).
 */
import type { Ms } from "../../base/index.ts";
import { minutes } from "../../base/index.ts";
import type { FaultName } from "../../contract/index.ts";
import type { ActiveFault } from "../../plane/index.ts";
import type { Application, EventClusterWorld, Load } from "../../sim/index.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";

/** Long enough to be seen at the default speed, short enough to see the recovery. */
export const FAULT_LASTS: Ms = minutes(20);
const SURGE = 2.5;
const SLOWER = 1.8;

export const faultWords: { readonly [name in FaultName]: string } = {
  "telemetry-lost": "its telemetry is lost",
  "node-lost": "the node with most of its pods is lost",
  "load-surge": `${SURGE} times its usual requests come`,
  "learner-crash": "its learner throws",
  "slow-pods": `its requests need ${SLOWER} times the CPU`,
};

const surging = (load: Load): Load => ({ ...load, perMinute: load.perMinute.map((rate) => SURGE * rate) });

const slowed = (application: Application): Application => ({
  ...application,
  phases: application.phases.map((phase) => ({ ...phase, cpu: SLOWER * phase.cpu })),
});

/** The faults that are in force, from their beginning to their end; in both worlds, since both are to meet the same. */
export class ActiveFaults {
  #all: readonly ActiveFault[];
  readonly #softwareOf: (workload: SimulatedWorkload) => Application;
  /** By workload, the node that was lost in each world: its pods may live elsewhere there. */
  readonly #lostNodes = new Map<string, Map<EventClusterWorld, string>>();

  /** `softwareOf`: the release that a workload runs, without any fault. */
  constructor(before: readonly ActiveFault[], softwareOf: (workload: SimulatedWorkload) => Application) {
    this.#all = before;
    this.#softwareOf = softwareOf;
  }

  get all(): readonly ActiveFault[] {
    return this.#all;
  }

  of(workload: string): readonly FaultName[] {
    return this.#all.filter((one) => one.workload === workload).map(({ fault }) => fault);
  }

  /** Those of before a restart, in worlds that begin. */
  applyTo(workloads: readonly SimulatedWorkload[], worlds: readonly EventClusterWorld[]): void {
    for (const workload of workloads)
      for (const fault of this.of(workload.id)) this.#apply(workload, fault, { isActive: true, worlds });
  }

  /** One that is there already lasts until the later end. */
  begin(workload: SimulatedWorkload, added: ActiveFault, worlds: readonly EventClusterWorld[]): void {
    const isThere = this.of(workload.id).includes(added.fault);
    this.#all = [...this.#all.filter((one) => one.fault !== added.fault || one.workload !== added.workload), added];
    if (!isThere) this.#apply(workload, added.fault, { isActive: true, worlds });
  }

  /** Ends those whose time is over; answers with them. */
  endDue(
    now: number,
    workloads: readonly SimulatedWorkload[],
    worlds: readonly EventClusterWorld[],
  ): readonly ActiveFault[] {
    const over = this.#all.filter(({ until }) => until <= now);
    if (over.length === 0) return over;
    this.#all = this.#all.filter(({ until }) => until > now);
    for (const { workload, fault } of over) {
      const about = workloads.find(({ id }) => id === workload);
      if (about) this.#apply(about, fault, { isActive: false, worlds });
    }
    return over;
  }

  /** The workload's release of now, which a fault may slow down. */
  install(workload: SimulatedWorkload, worlds: readonly EventClusterWorld[]): void {
    const software = this.#softwareOf(workload);
    const application = this.of(workload.id).includes("slow-pods") ? slowed(software) : software;
    for (const world of worlds) world.update(workload.id, { application });
  }

  /** Only the part that the fault is about. */
  #apply(
    workload: SimulatedWorkload,
    fault: FaultName,
    { isActive, worlds }: { readonly isActive: boolean; readonly worlds: readonly EventClusterWorld[] },
  ): void {
    const { id, load } = workload;
    if (fault === "slow-pods") this.install(workload, worlds);
    for (const world of worlds) {
      if (fault === "load-surge") world.update(id, { load: isActive ? surging(load) : load });
      if (fault === "node-lost" && isActive) this.#loseNode(id, world);
      if (fault === "node-lost" && !isActive) this.#returnNode(id, world);
    }
  }

  #loseNode(id: SimulatedWorkload["id"], world: EventClusterWorld): void {
    const node = world.homeOf(id);
    if (node === undefined) return;
    const lost = this.#lostNodes.get(id) ?? new Map<EventClusterWorld, string>();
    this.#lostNodes.set(id, lost.set(world, node));
    world.loseNode(node);
  }

  #returnNode(id: SimulatedWorkload["id"], world: EventClusterWorld): void {
    const lost = this.#lostNodes.get(id);
    const node = lost?.get(world);
    if (node === undefined) return;
    lost?.delete(world);
    // Another workload may have lost the same one, and later.
    if (![...this.#lostNodes.values()].some((nodes) => nodes.get(world) === node)) world.returnNode(node);
  }
}
