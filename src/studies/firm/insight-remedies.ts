/** Insight 2.3: whether more of a resource or one more container helps more depends on the load and on what is short. */
import type { FaultKind, FaultTarget } from "../../act/faults/index.ts";
import type { Resource } from "../../base/index.ts";
import { type Call, type MicroserviceApplication, profiles } from "../../sim/index.ts";
import { type InsightOptions, insightRun } from "./insight-run.ts";

export interface RemedyCell {
  readonly service: string;
  readonly resource: Resource;
  /** Over the load that limits are made for. */
  readonly load: number;
  /** Median latency of the requests that pass the service, ms: as it is, with twice the limit, with a second container. */
  readonly none: number;
  readonly up: number;
  readonly out: number;
}

const shortages: readonly { readonly resource: "cpu" | "memory"; readonly kind: FaultKind }[] = [
  { resource: "cpu", kind: "cpu" },
  { resource: "memory", kind: "memory-bandwidth" },
];

export function remediesOf(options: InsightOptions & { readonly loads: readonly number[] }): readonly RemedyCell[] {
  return shortages.flatMap(({ resource, kind }) => {
    const service = mostBoundBy(options.application, resource);
    const names = requestsThrough(options.application, service);
    const target: FaultTarget = { on: "instance", service, replica: 0 };
    const anomaly = { kind, target, intensity: 0.5, pattern: "constant" } as const;
    return options.loads.map((load): RemedyCell => {
      const run = { ...options, perSecond: load * options.perSecond, designRate: options.perSecond, anomaly };
      const none = insightRun(run);
      const limit = none.limits.get(service)?.[resource] as number;
      const up = insightRun({ ...run, limits: { [service]: { [resource]: 2 * limit } } });
      const out = insightRun({ ...run, replicas: { [service]: 2 } });
      const [before, larger, more] = [none, up, out].map((one) => one.of(names).p50) as [number, number, number];
      return { service, resource, load, none: before, up: larger, out: more };
    });
  });
}

/** The service that most requests' time with a resource is spent in. */
export function mostBoundBy(application: MicroserviceApplication, resource: "cpu" | "memory"): string {
  const time = new Map<string, number>();
  const specs = new Map(application.services.map((spec) => [spec.name, spec]));
  const visit = ({ service, size, stages, onMissOf }: Call, weight: number): void => {
    const spec = specs.get(service);
    if (spec === undefined || onMissOf !== undefined) return;
    const { cpu, memory } = profiles[spec.profile];
    const share = resource === "cpu" ? cpu : memory.share;
    time.set(service, (time.get(service) ?? 0) + weight * size * spec.work * share);
    for (const stage of stages) for (const call of stage) visit(call, weight);
  };
  for (const { root, weight } of application.requests) visit(root, weight);
  return [...time].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** Types of request that wait for a service. */
export function requestsThrough({ requests }: MicroserviceApplication, service: string): readonly string[] {
  const passes = (call: Call): boolean => call.service === service || call.stages.flat().some(passes);
  return requests.filter(({ root }) => passes(root)).map(({ name }) => name);
}
