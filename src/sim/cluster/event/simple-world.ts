/**
 * Small worlds whose behaviour is known by hand or from theory: for tests of the event rung and of what stands on it.
 * Owns: an application of one phase without chance, a constant load, one ideal node; each part can be replaced.
 */
import type { Allocation } from "../../../act/index.ts";
import type { WorkloadId } from "../../../base/index.ts";
import {
  bytes,
  cores,
  mebibytes,
  milliseconds,
  minutes,
  parseWorkloadId,
  seconds,
  unwrap,
} from "../../../base/index.ts";
import type { NodeSpec } from "../processors.ts";
import type { WorkloadSpec } from "../spec.ts";
import type { Application, Load, Phase } from "../workloads/index.ts";
import type { ClusterWorld } from "../world.ts";
import { type EventWorldOptions, eventWorld } from "./event-world.ts";

export const shop: WorkloadId = unwrap(parseWorkloadId("shop"));

export function phaseOf(cpu: number, options: Partial<Phase> = {}): Phase {
  return { segment: "plain", cpu, width: 1, wait: 0, io: bytes(0), network: bytes(0), ...options };
}

/** 10 ms on one thread, the same every time; plenty of threads, queue, patience and memory; starts in 10 s. */
export function plainApplication(options: Partial<Application> = {}): Application {
  return {
    id: "plain",
    segments: ["plain"],
    phases: [phaseOf(10)],
    sizes: [1],
    sigma: 0,
    threads: 10_000,
    queue: 100_000,
    timeout: minutes(60),
    retries: 0,
    memory: { base: mebibytes(64), perRequest: bytes(0), cache: bytes(0), missPenalty: 1 },
    startup: { mean: seconds(10), sigma: 0 },
    warmup: { factor: 1, span: milliseconds(1) },
    ...options,
  };
}

export const steadyLoad = (perSecond: number): Load => ({
  id: `steady-${perSecond}`,
  level: "high",
  perMinute: Float64Array.of(perSecond),
  dispersion: 1,
});

export const idealNode = (name: string, size: Partial<Pick<NodeSpec, "cpu" | "memory">> = {}): NodeSpec => ({
  name,
  processor: "ideal",
  cpu: cores(64),
  memory: mebibytes(65_536),
  ...size,
});

export const oneBigPod: Allocation = { replicas: 1, cpu: cores(64), memory: mebibytes(1_024) };

export interface SimpleOptions extends Partial<Omit<EventWorldOptions, "workloads">>, Partial<WorkloadSpec> {}

/** One workload called shop. Nothing goes missing or wrong on the way to its readings unless it is asked to. */
export function simpleWorld(options: SimpleOptions = {}): ClusterWorld {
  const { application = plainApplication(), load = steadyLoad(10), initial = oneBigPod } = options;
  const { slo = { kind: "latency", percentile: 0.99, target: seconds(1) }, resize = "in-place" } = options;
  return eventWorld({
    seed: options.seed ?? 1,
    start: options.start ?? milliseconds(0),
    nodes: options.nodes ?? [idealNode("only")],
    workloads: [{ id: options.id ?? shop, application, load, slo, initial, resize }],
    metrics: { missing: 0, noise: 0, ...options.metrics },
    ...(options.balancing === undefined ? {} : { balancing: options.balancing }),
  });
}
