/**
 * Who holds up whom on one invoker, and by what.
 * Owns: sums over time of what each function's activations lose there, shared out among those who want the same resource.
 * Not here: how fast they run (contention.ts), when that changes (event/station.ts).
 *
 * A loss is put down to everybody who wants the resource, by what each wants of it, the loser among them: whoever fills an
 * invoker alone is in its own way. What containers that are being started take of the cores is put down to nobody.
 */
import type { Resource, WorkloadId } from "../../base/index.ts";
import { START_CORES } from "./calibration.ts";
import type { ManagedFunction } from "./containers.ts";
import type { Cohort } from "./contention.ts";
import type { InvokerSpec } from "./invokers.ts";
import type { InvokerWork } from "./world.ts";

/** Cores; memory bandwidth, which a full cache uses up as well; network and storage, which are one here. */
const contended = ["cpu", "memory", "io"] as const satisfies readonly Resource[];
type Contended = (typeof contended)[number];

export interface OwnedCohort extends Cohort {
  readonly owner: ManagedFunction;
}

interface Sums {
  /** In ms: cores wanted, cores used, activations at work. */
  wanted: number;
  used: number;
  busy: number;
  /** Activations' ms that are lost, by resource and by who wants it. */
  readonly lost: { readonly [R in Contended]: Map<WorkloadId | null, number> };
}

/** Rounding leaves losses of nothing. */
const NOTHING = 1e-9;

export class Interference {
  readonly #spec: InvokerSpec;
  #sums = new Map<WorkloadId, Sums>();

  constructor(spec: InvokerSpec) {
    this.#spec = spec;
  }

  /** They have run side by side for so long at the speeds they have. */
  add(cohorts: readonly OwnedCohort[], { starting, passed }: { readonly starting: number; readonly passed: number }) {
    for (const cohort of cohorts) {
      const { computing, transferring, cores, computeSpeed, ioSpeed } = cohort;
      const busy = computing + transferring;
      if (busy === 0) continue;
      const sums = this.#of(cohort.owner.spec.id);
      sums.busy += passed * busy;
      if (computing > 0) {
        sums.wanted += passed * computing;
        sums.used += passed * cores;
        const core = cores / computing;
        const byCores = passed * computing * (1 - core);
        if (byCores > NOTHING) blame(sums.lost.cpu, byCores, wantsOf("cpu", cohorts, starting));
        const byTraffic = passed * cores * (1 - computeSpeed / (this.#spec.speed * core));
        if (byTraffic > NOTHING) blame(sums.lost.memory, byTraffic, wantsOf("memory", cohorts, starting));
      }
      const byTransfers = passed * transferring * (1 - ioSpeed);
      if (byTransfers > NOTHING) blame(sums.lost.io, byTransfers, wantsOf("io", cohorts, starting));
    }
  }

  /** Since the last call, which was so long ago. */
  take(over: number): InvokerWork {
    const sums = [...this.#sums];
    this.#sums = new Map();
    return {
      invoker: this.#spec.name,
      tenants: sums.map(([workload, { wanted, used, busy }]) => ({
        workload,
        wanted: over > 0 ? wanted / over : 0,
        used: over > 0 ? used / over : 0,
        busy: over > 0 ? busy / over : 0,
      })),
      losses: sums.flatMap(([workload, { lost, busy }]) =>
        contended.flatMap((resource) =>
          [...lost[resource]].map(([by, ms]) => ({ workload, by, resource, share: ms / busy })),
        ),
      ),
    };
  }

  #of(workload: WorkloadId): Sums {
    const known = this.#sums.get(workload);
    if (known !== undefined) return known;
    const sums = { wanted: 0, used: 0, busy: 0, lost: { cpu: new Map(), memory: new Map(), io: new Map() } };
    this.#sums.set(workload, sums);
    return sums;
  }
}

function blame(losses: Map<WorkloadId | null, number>, lost: number, { by, all }: Wants): void {
  for (const [who, wanted] of by) losses.set(who, (losses.get(who) ?? 0) + (lost * wanted) / all);
}

interface Wants {
  readonly by: readonly (readonly [WorkloadId | null, number])[];
  readonly all: number;
}

function wantsOf(resource: Contended, cohorts: readonly OwnedCohort[], starting: number): Wants {
  const by: (readonly [WorkloadId | null, number])[] = [];
  const starts = resource === "cpu" ? START_CORES * starting : 0;
  let all = starts;
  for (const cohort of cohorts) {
    const wanted = wantOf(resource, cohort);
    if (wanted > 0) by.push([cohort.owner.spec.id, wanted]);
    all += wanted;
  }
  if (starts > 0) by.push([null, starts]);
  return { by, all };
}

function wantOf(resource: Contended, { profile, computing, transferring, cores }: Cohort): number {
  switch (resource) {
    case "cpu":
      return computing;
    case "memory":
      // The cache's misses raise the traffic of all by the same factor.
      return computing > 0 ? cores * profile.compute.bandwidth : 0;
    case "io":
      return transferring * profile.io.rate;
  }
}
