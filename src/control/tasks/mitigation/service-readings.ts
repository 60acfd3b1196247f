/**
 * Readings of services, made of what telemetry says of containers, requests and nodes in one interval.
 * Owns: putting them together, and what has to be remembered for it: recent use, the rate of requests before.
 * Not here: what is said of a service (triage.ts, or the truth of a training: pretraining/scene.ts).
 */
import type { Limits, Ms, WorkloadId } from "../../../base/index.ts";
import { seconds } from "../../../base/index.ts";
import type { InstanceReading, RequestReading } from "../../../observe/telemetry/index.ts";
import { compositionOf, offeredOf, workloadChangeOf } from "./observation.ts";
import type { ServicesPort } from "./port.ts";
import { amounts, type ServiceReading, type Standing } from "./service-reading.ts";
import { UseMemory } from "./use-memory.ts";

/** What is said of a service. */
export interface Finding {
  readonly standing: Standing;
  readonly sloMaintenance: number;
}

export interface Interval {
  readonly instances: readonly InstanceReading[];
  readonly requests: readonly RequestReading[];
  /** By service; one that nothing is said of is left out. */
  readonly findings: ReadonlyMap<string, Finding>;
}

/** As old as a sample may be that stands in for a missed one. */
const MISSED: Ms = seconds(4);
/** Further beyond an SLO is not told apart. */
const MOST_NEARNESS = 4;

export class ServiceReadings {
  readonly #idOf: (service: string) => WorkloadId;
  readonly #used = new UseMemory();
  readonly #sampled = new Map<string, InstanceReading>();
  #offeredBefore: number | null = null;

  constructor(idOf: (service: string) => WorkloadId) {
    this.#idOf = idOf;
  }

  /** A scrape is missed now and then: for a few seconds the sample before it is the newest there is. */
  #withSample(one: InstanceReading): InstanceReading {
    if (one.use !== null) {
      this.#sampled.set(one.instance, one);
      return one;
    }
    const last = this.#sampled.get(one.instance);
    if (last === undefined || one.at - last.at > MISSED) return one;
    return { ...one, at: last.at, use: last.use, counters: last.counters };
  }

  #forgetGone(instances: readonly InstanceReading[]): void {
    if (this.#sampled.size <= instances.length) return;
    const there = new Set(instances.map(({ instance }) => instance));
    for (const name of this.#sampled.keys()) if (!there.has(name)) this.#sampled.delete(name);
  }

  /** One interval's, by service. */
  make(
    view: Pick<ServicesPort, "readNodes" | "readService">,
    { instances, requests, findings }: Interval,
  ): ReadonlyMap<string, ServiceReading> {
    const sampled = instances.map((one) => this.#withSample(one));
    this.#used.note(instances);
    this.#forgetGone(instances);
    const offered = offeredOf(requests);
    const workloadChange = workloadChangeOf(offered, this.#offeredBefore);
    this.#offeredBefore = offered;
    const composition = compositionOf(requests.map((request) => request.offered));
    const nearness = nearnessOf(requests);
    const rooms = new Map(view.readNodes().map(({ node, room }) => [node, room]));
    const readings = new Map<string, ServiceReading>();
    for (const [service, containers] of byService(sampled)) {
      const found = findings.get(service);
      if (found === undefined) continue;
      const peaks = containers.map((one) => this.#used.peakOf(one));
      const deployed = containers.map((one) => this.#used.deployedWith(one));
      readings.set(service, {
        workload: this.#idOf(service),
        at: Math.max(...containers.map(({ at }) => at)) as Ms,
        service,
        containers,
        autoscaled: view.readService(service),
        standing: found.standing,
        sloMaintenance: found.sloMaintenance,
        workloadChange,
        composition,
        offered,
        nearness,
        used: amounts((resource) => Math.max(...peaks.map((one) => one[resource]))),
        deployed: amounts((resource) => Math.max(...deployed.map((one) => one[resource]))),
        room: roomFor(containers, rooms),
      });
    }
    return readings;
  }
}

function byService(instances: readonly InstanceReading[]): ReadonlyMap<string, readonly InstanceReading[]> {
  const found = new Map<string, InstanceReading[]>();
  for (const one of instances) {
    const own = found.get(one.service);
    if (own === undefined) found.set(one.service, [one]);
    else own.push(one);
  }
  return found;
}

function nearnessOf(requests: readonly RequestReading[]): number {
  let most = 0;
  for (const { p99, slo } of requests) if (p99 !== null && slo > 0) most = Math.max(most, p99 / slo);
  return Math.min(MOST_NEARNESS, most);
}

/** What every container of a service can have more at once. A node that nobody has told about has no room to rely on. */
function roomFor(containers: readonly InstanceReading[], rooms: ReadonlyMap<string, Limits>): Limits {
  const counts = new Map<string, number>();
  for (const { node } of containers) counts.set(node, (counts.get(node) ?? 0) + 1);
  return amounts((resource) =>
    Math.min(...[...counts].map(([node, count]) => Math.max(0, rooms.get(node)?.[resource] ?? 0) / count)),
  );
}
