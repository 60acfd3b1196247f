/**
 * What happens to the simulated workloads from outside, in both worlds at the same moment: faults that people inject,
 * releases.
 * Owns: carrying both into the worlds, and the sentences about them. Not here: each of the two (faults.ts, releases.ts).
 */
import type { Ms, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { FaultName } from "../../contract/index.ts";
import type { ActiveFault, WorldEvent, WorldEvents, WorldFaults } from "../../plane/index.ts";
import type { Application, EventClusterWorld } from "../../sim/index.ts";
import { ActiveFaults, FAULT_LASTS, faultWords } from "./faults.ts";
import { Releases } from "./releases.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";

export interface SimulatedEventsOptions {
  readonly workloads: readonly SimulatedWorkload[];
  /** Those of before a restart. */
  readonly faults: readonly ActiveFault[];
  readonly startedAt: number;
  readonly now: number;
}

export class SimulatedEvents implements WorldEvents, WorldFaults {
  readonly #workloads: readonly SimulatedWorkload[];
  readonly #faults: ActiveFaults;
  readonly #releases: Releases;
  #worlds: readonly EventClusterWorld[] = [];

  constructor({ workloads, faults, startedAt, now }: SimulatedEventsOptions) {
    this.#workloads = workloads;
    this.#releases = new Releases(workloads, { startedAt, now });
    this.#faults = new ActiveFaults(faults, (workload) => this.#releases.softwareOf(workload));
  }

  /** The worlds that all of it happens in, from now on. They begin with the releases of now. */
  enter(worlds: readonly EventClusterWorld[]): void {
    this.#worlds = worlds;
    this.#faults.applyTo(this.#workloads, worlds);
  }

  softwareOf(workload: SimulatedWorkload): Application {
    return this.#releases.softwareOf(workload);
  }

  get active(): readonly ActiveFault[] {
    return this.#faults.all;
  }

  isTelemetryLost(workload: string): boolean {
    return this.#faults.of(workload).includes("telemetry-lost");
  }

  inject(id: WorkloadId, fault: FaultName, now: Ms) {
    const workload = this.#workloads.find((one) => one.id === id);
    if (workload === undefined)
      return err(failure("plane.unknown-workload", `there is no workload ${id}; GET /v1/workloads lists them`));
    this.#faults.begin(workload, { workload: id, fault, until: now + FAULT_LASTS }, this.#worlds);
    return ok(`${faultWords[fault]} for ${FAULT_LASTS / 60_000} minutes of world time`);
  }

  releaseOf(workload: string) {
    return this.#releases.documentOf(workload);
  }

  causesOf(workload: string): readonly string[] {
    const release = this.#releases.cause(workload);
    return [...this.#faults.of(workload).map((fault) => faultWords[fault]), ...(release === null ? [] : [release])];
  }

  moveTo(now: number): readonly WorldEvent[] {
    const over = this.#faults.endDue(now, this.#workloads, this.#worlds);
    const released = this.#releases.moveTo(now, this.#workloads);
    for (const workload of released) this.#faults.install(workload, this.#worlds);
    return [
      ...over.map(({ workload, fault }) => ({
        workload,
        severity: "notice" as const,
        kind: "fault-ended",
        text: `the fault ${fault} is over`,
      })),
      ...released.map(({ id }) => ({
        workload: id,
        severity: "notice" as const,
        kind: "release",
        text: this.#releases.announcement(id),
      })),
    ];
  }
}
