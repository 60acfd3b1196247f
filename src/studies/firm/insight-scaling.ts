/** Insight 2.2: the service that varies most is worth a second container, not the one that takes longest. */
import type { FaultKind, FaultTarget } from "../../act/faults/index.ts";
import type { Rng } from "../../base/index.ts";
import type { Span } from "../../observe/telemetry/index.ts";
import { assembleTraces, CriticalPathFinder } from "../../observe/tracing/index.ts";
import { median, standardDeviation } from "../statistics/index.ts";
import { busyTargets } from "./applications.ts";
import { type InsightOptions, insightRun } from "./insight-run.ts";

export interface ScalingResult {
  readonly disturbed: string;
  /** By their own time on critical paths: whose deviation is largest, and whose median. */
  readonly varying: string;
  readonly longest: string;
  readonly p99: { readonly before: number; readonly varyingScaled: number; readonly longestScaled: number };
}

const kinds: readonly FaultKind[] = ["cpu", "memory-bandwidth", "io-bandwidth"];

export function scaleByRule(rng: Rng, options: InsightOptions & { readonly count: number }): readonly ScalingResult[] {
  const targets = busyTargets(options.application);
  return Array.from({ length: options.count }, (_, i): ScalingResult => {
    const target = targets[rng.int(targets.length)] as FaultTarget & { readonly service: string };
    const kind = kinds[i % kinds.length] as FaultKind;
    const anomaly = { kind, target, intensity: 0.6 + 0.4 * rng.next(), pattern: "pulse" } as const;
    const before = insightRun({ ...options, anomaly, sampling: 1 });
    const own = ownTimes(before.spans);
    const varying = highest(own, standardDeviation);
    const longest = highest(own, median);
    const scaled = (service: string) => insightRun({ ...options, anomaly, replicas: { [service]: 2 } }).p99;
    const varyingScaled = scaled(varying);
    return {
      disturbed: target.service,
      varying,
      longest,
      p99: { before: before.p99, varyingScaled, longestScaled: longest === varying ? varyingScaled : scaled(longest) },
    };
  });
}

/** By service: the time that it alone held up each request on whose critical path it was, ms. */
export function ownTimes(spans: readonly Span[]): ReadonlyMap<string, readonly number[]> {
  const { block } = assembleTraces(spans);
  const finder = new CriticalPathFinder();
  const times = new Map<string, number[]>();
  for (let trace = 0; trace < block.size; trace++) {
    const first = block.offsets[trace] as number;
    const { spans: places, exclusiveUs } = finder.find(block, trace).path();
    for (const [k, span] of places.entries()) {
      const service = block.names.text(block.spans.service[first + span] as number);
      const known = times.get(service);
      const time = (exclusiveUs[k] as number) / 1_000;
      if (known === undefined) times.set(service, [time]);
      else known.push(time);
    }
  }
  return times;
}

/** Fewer say nothing about a spread. */
const LEAST = 30;

function highest(times: ReadonlyMap<string, readonly number[]>, of: (values: readonly number[]) => number): string {
  let best = { service: "", value: Number.NEGATIVE_INFINITY };
  for (const [service, values] of times) {
    if (values.length < LEAST) continue;
    const value = of(values);
    if (value > best.value) best = { service, value };
  }
  return best.service;
}
