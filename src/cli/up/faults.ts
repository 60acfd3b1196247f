/**
 * Faults that a person can inject, each by a mechanism that is really there: the telemetry port fails, the learner throws,
 * more requests come, the software gets slower.
 * Owns: what a fault does, how long it lasts, and how it ends. Not here: asking for one (commands.ts).
 */
import type { Failure, Ms } from "../../base/index.ts";
import { failure, minutes } from "../../base/index.ts";
import type { FaultName } from "../../server/index.ts";
import type { Application, ClusterWorld, Load } from "../../sim/index.ts";
import type { DemoWorkload } from "./demo-workloads.ts";

export interface ActiveFault {
  readonly workload: string;
  readonly fault: FaultName;
  /** Of world time. */
  readonly until: number;
}

/** Long enough to be seen at the default speed, short enough to see the recovery. */
export const FAULT_LASTS: Ms = minutes(20);
const SURGE = 2.5;
const SLOWER = 1.8;

export const faultWords: { readonly [name in FaultName]: string } = {
  "telemetry-lost": "its telemetry is lost",
  "node-lost": "a node is lost",
  "load-surge": `${SURGE} times its usual requests come`,
  "learner-crash": "its learner throws",
  "slow-pods": `its requests need ${SLOWER} times the CPU`,
};

/** Why a fault can not be injected here; undefined where it can. */
export function faultProblem(fault: FaultName): Failure | undefined {
  if (fault !== "node-lost") return undefined;
  return failure(
    "plane.fault-unsupported",
    "the simulated cluster can not lose a node while it runs; inject telemetry-lost, load-surge, slow-pods or learner-crash",
  );
}

const surging = (load: Load): Load => ({ ...load, perMinute: load.perMinute.map((rate) => SURGE * rate) });

const slowed = (application: Application): Application => ({
  ...application,
  phases: application.phases.map((phase) => ({ ...phase, cpu: SLOWER * phase.cpu })),
});

/**
 * Brings the part of the worlds that a fault is about to what the active ones say; both worlds, since both are to meet the
 * same. Only that part: new software is rolled out pod by pod, which is a disruption of its own.
 */
function applyFault(
  { id, load, application }: DemoWorkload,
  fault: FaultName,
  { isActive, worlds }: { readonly isActive: boolean; readonly worlds: readonly ClusterWorld[] },
): void {
  for (const world of worlds) {
    if (fault === "load-surge") world.update(id, { load: isActive ? surging(load) : load });
    if (fault === "slow-pods") world.update(id, { application: isActive ? slowed(application) : application });
  }
}

/** The faults that are in force, from their beginning to their end. */
export class ActiveFaults {
  #all: readonly ActiveFault[];

  constructor(before: readonly ActiveFault[]) {
    this.#all = before;
  }

  get all(): readonly ActiveFault[] {
    return this.#all;
  }

  of(workload: string): readonly FaultName[] {
    return this.#all.filter((one) => one.workload === workload).map(({ fault }) => fault);
  }

  /** Those of before a restart, in worlds that begin. */
  applyTo(workloads: readonly DemoWorkload[], worlds: readonly ClusterWorld[]): void {
    for (const workload of workloads)
      for (const fault of this.of(workload.id)) applyFault(workload, fault, { isActive: true, worlds });
  }

  /** One that is there already lasts until the later end. */
  begin(workload: DemoWorkload, added: ActiveFault, worlds: readonly ClusterWorld[]): void {
    const isThere = this.of(workload.id).includes(added.fault);
    this.#all = [...this.#all.filter((one) => one.fault !== added.fault || one.workload !== added.workload), added];
    if (!isThere) applyFault(workload, added.fault, { isActive: true, worlds });
  }

  /** Ends those whose time is over; answers with them. */
  endDue(now: number, workloads: readonly DemoWorkload[], worlds: readonly ClusterWorld[]): readonly ActiveFault[] {
    const over = this.#all.filter(({ until }) => until <= now);
    if (over.length === 0) return over;
    this.#all = this.#all.filter(({ until }) => until > now);
    for (const { workload, fault } of over) {
      const about = workloads.find(({ id }) => id === workload);
      if (about) applyFault(about, fault, { isActive: false, worlds });
    }
    return over;
  }
}
