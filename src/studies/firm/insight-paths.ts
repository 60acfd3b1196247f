/** Insight 2.1: whose critical path it is depends on where the contention is. */
import type { FaultTarget } from "../../act/faults/index.ts";
import type { Span } from "../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder } from "../../observe/tracing/index.ts";
import type { Call, MicroserviceApplication } from "../../sim/index.ts";
import { type InsightOptions, insightRun } from "./insight-run.ts";

export interface PathsResult {
  /** The type of request with the widest stage, and who is called in it at once. */
  readonly request: string;
  readonly disturbed: readonly DisturbedPath[];
}

export interface DisturbedPath {
  readonly service: string;
  /** Share of requests whose critical path goes through it, with the anomaly and without. */
  readonly through: number;
  readonly throughCalm: number;
  readonly p50: number;
  readonly p99: number;
}

/** Few enough for the sake of time; the dissertation's Table 2.1 has three. */
const MOST_SIBLINGS = 3;

export function movePaths(options: InsightOptions): PathsResult {
  const { request, siblings } = widestStage(options.application);
  const calm = insightRun({ ...options, sampling: 1 });
  const calmShares = sharesThrough(calm.spans, request);
  const disturbed = siblings.slice(0, MOST_SIBLINGS).map((service): DisturbedPath => {
    const target: FaultTarget = { on: "instance", service, replica: 0 };
    const anomaly = { kind: "cpu", target, intensity: 0.6, pattern: "constant" } as const;
    const run = insightRun({ ...options, anomaly, sampling: 1 });
    const shares = sharesThrough(run.spans, request);
    const { p50, p99 } = run.of([request]);
    return { service, through: shares.get(service) ?? 0, throughCalm: calmShares.get(service) ?? 0, p50, p99 };
  });
  return { request, disturbed };
}

/** Of all types of request: the stage in which most services are called at once. */
export function widestStage({ requests }: MicroserviceApplication): { request: string; siblings: readonly string[] } {
  let widest: { request: string; siblings: readonly string[] } = { request: "", siblings: [] };
  const visit = (request: string, { stages }: Call): void => {
    for (const stage of stages) {
      const siblings = [
        ...new Set(stage.filter(({ onMissOf }) => onMissOf === undefined).map(({ service }) => service)),
      ];
      if (siblings.length > widest.siblings.length) widest = { request, siblings };
      for (const call of stage) visit(request, call);
    }
  };
  for (const { name, root } of requests) visit(name, root);
  return widest;
}

/** By service: the share of requests of a type whose critical path goes through it. */
export function sharesThrough(spans: readonly Span[], request: string): ReadonlyMap<string, number> {
  const { block } = assembleTraces(spans);
  const finder = new CriticalPathFinder();
  const counts = new Map<string, number>();
  let requests = 0;
  for (let trace = 0; trace < block.size; trace++) {
    const first = block.offsets[trace] as number;
    const { names, spans: columns } = block;
    if (names.text(columns.operation[first] as number) !== request) continue;
    requests++;
    const path = finder.find(block, trace).path();
    const services = new Set(path.spans.map((span) => names.text(columns.service[first + span] as number)));
    for (const service of services) counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return new Map([...counts].map(([service, count]) => [service, count / Math.max(1, requests)]));
}
