/**
 * One service as its mitigating agent reads it: its containers, what triage says of it, and what its nodes have left.
 * Owns: the shape, its check, and what several containers come to as one.
 * Not here: who is to blame (triage.ts), what a policy sees of it (observation.ts).
 *
 * All containers of a service have the same limits, so what is told of them is told of the one that needs most.
 */
import type { Limits, Ms, Resource, Result, WorkloadId } from "../../../base/index.ts";
import { err, failure, ok, resources } from "../../../base/index.ts";
import type { InstanceReading, WorkloadReading } from "../../../observe/telemetry/index.ts";

/** Why something may be done about a service now, or why not. */
export type Standing =
  /** The localizer blames it for a broken SLO, or it is the likeliest where nobody is blamed. */
  | { readonly kind: "blamed"; readonly because: string }
  /** Requests through it are late and it is at the end of these limits, or soon will be. */
  | { readonly kind: "pressed"; readonly because: string; readonly lacking: readonly Resource[] }
  /** Nobody waits for it: what it does not need may be taken back. */
  | { readonly kind: "fitted"; readonly because: string }
  /** As that, but another service's turn. */
  | { readonly kind: "waiting"; readonly because: string };

export interface ServiceReading {
  readonly workload: WorkloadId;
  /** When the newest measurement in it was taken. */
  readonly at: Ms;
  readonly service: string;
  readonly containers: readonly InstanceReading[];
  /** As an autoscaler of Kubernetes sees it. */
  readonly autoscaled: WorkloadReading;
  readonly standing: Standing;
  /** SLO over latency of the broken requests that it is blamed for or pressed by; 1 otherwise. */
  readonly sloMaintenance: number;
  readonly workloadChange: number;
  readonly composition: number;
  /** Requests per second of all types, at the ingress; null before the first came. */
  readonly offered: number | null;
  /** p99 over SLO of the requests that come nearest to theirs: 1 is at the limit. */
  readonly nearness: number;
  /** What a container has lately used at most (use-memory.ts), and the limits that it was deployed with. */
  readonly used: Limits;
  readonly deployed: Limits;
  /** What each container can have more, by what its node has left. */
  readonly room: Limits;
}

/** Of the busiest container, resource by resource; null where no container that runs has a sample. */
export function useOf(containers: readonly InstanceReading[]): { readonly [R in Resource]: number } | null {
  const sampled = containers.flatMap(({ use }) => (use === null ? [] : [use]));
  if (sampled.length === 0) return null;
  return amounts((resource) => Math.max(...sampled.map((use) => use[resource])));
}

/** Five amounts, each from its resource. */
export function amounts(of: (resource: Resource) => number): Limits {
  return { cpu: of("cpu"), memory: of("memory"), llc: of("llc"), io: of("io"), network: of("network") };
}

/** Whatever a source hands over is checked: numbers that are none reach neither policy nor fallback. */
export function parseServiceReading(arrived: unknown): Result<ServiceReading> {
  const problem = problemOf(arrived);
  return problem === undefined
    ? ok(arrived as ServiceReading)
    : err(failure("mitigation.reading", `the reading of a service is not usable: ${problem}`));
}

function problemOf(arrived: unknown): string | undefined {
  if (typeof arrived !== "object" || arrived === null) return "it is not an object";
  const reading = arrived as Partial<ServiceReading>;
  if (typeof reading.workload !== "string") return "it names no workload";
  if (!Number.isFinite(reading.at)) return "it does not say when it was taken";
  const { containers } = reading;
  if (!Array.isArray(containers) || containers.length === 0) return "it knows no container";
  for (const name of ["sloMaintenance", "workloadChange", "composition", "nearness"] as const)
    if (!Number.isFinite(reading[name])) return `its ${name} is ${String(reading[name])}`;
  for (const name of ["used", "deployed", "room"] as const)
    if (!areNumbers(reading[name])) return `its ${name} is not five numbers`;
  for (const { instance, limits, lower, upper, use } of containers as readonly InstanceReading[]) {
    if (!areNumbers(limits) || !areNumbers(lower) || !areNumbers(upper))
      return `a limit of ${instance} is not a number`;
    if (use !== null && !areNumbers(use)) return `a utilisation of ${instance} is not a number`;
  }
  return undefined;
}

const areNumbers = (values: Partial<Limits> | undefined): boolean =>
  values !== undefined && resources.every((resource) => Number.isFinite(values[resource]));
