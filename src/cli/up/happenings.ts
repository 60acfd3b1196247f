/**
 * What happens to the workloads from outside, in both worlds at the same moment: faults that people inject, releases.
 * Owns: carrying both into the worlds, and the sentences about them. Not here: each of the two (faults.ts, releases.ts).
 */
import type { ReleaseDocument, Severity } from "../../server/index.ts";
import type { Application, EventClusterWorld } from "../../sim/index.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import type { ActiveFault } from "./faults.ts";
import { ActiveFaults, faultWords } from "./faults.ts";
import { Releases } from "./releases.ts";

export interface Happened {
  readonly workload: string;
  readonly severity: Severity;
  readonly kind: string;
  readonly text: string;
}

export interface HappeningsOptions {
  readonly workloads: readonly DemoWorkload[];
  /** Those of before a restart. */
  readonly faults: readonly ActiveFault[];
  readonly startedAt: number;
  readonly now: number;
}

export class Happenings {
  readonly #workloads: readonly DemoWorkload[];
  readonly #faults: ActiveFaults;
  readonly #releases: Releases;
  #worlds: readonly EventClusterWorld[] = [];

  constructor({ workloads, faults, startedAt, now }: HappeningsOptions) {
    this.#workloads = workloads;
    this.#releases = new Releases(workloads, { startedAt, now });
    this.#faults = new ActiveFaults(faults, (workload) => this.#releases.softwareOf(workload));
  }

  /** The worlds that all of it happens in, from now on. They begin with the releases of now. */
  enter(worlds: readonly EventClusterWorld[]): void {
    this.#worlds = worlds;
    this.#faults.applyTo(this.#workloads, worlds);
  }

  softwareOf(workload: DemoWorkload): Application {
    return this.#releases.softwareOf(workload);
  }

  get faults(): readonly ActiveFault[] {
    return this.#faults.all;
  }

  isTelemetryLost(workload: string): boolean {
    return this.#faults.of(workload).includes("telemetry-lost");
  }

  addFault(workload: DemoWorkload, fault: ActiveFault): void {
    this.#faults.begin(workload, fault, this.#worlds);
  }

  releaseOf(workload: string): ReleaseDocument {
    return this.#releases.documentOf(workload);
  }

  /** What may be behind a workload's trouble, the likeliest first. */
  causesOf(workload: string): readonly string[] {
    const release = this.#releases.cause(workload);
    return [...this.#faults.of(workload).map((fault) => faultWords[fault]), ...(release === null ? [] : [release])];
  }

  /** What ended or came until now. */
  moveTo(now: number): readonly Happened[] {
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
