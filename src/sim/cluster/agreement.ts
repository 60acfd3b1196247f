/**
 * Whether the two rungs of the cluster world agree: one condition, run in both.
 * Owns: what a condition is, what is measured in it, how far two measurements are apart.
 * Not here: which conditions are compared and what is claimed of them (the study world-cluster, the rungs' tests).
 */
import type { WorkloadId } from "../../base/index.ts";
import { bytes, millicores, milliseconds } from "../../base/index.ts";
import type { NodeSpec } from "./processors.ts";
import type { WorldOptions } from "./spec.ts";
import { type Application, meanWork } from "./workloads/index.ts";
import type { ClusterWorld } from "./world.ts";

export interface AgreementCell {
  readonly application: Application;
  /** CPU limit of a pod. */
  readonly cores: number;
  readonly replicas: number;
  /** CPU work that comes, as a share of all pods' limits; above 1 is overload. */
  readonly utilisation: number;
  /** Variance over mean of the arrivals per 15 s. */
  readonly dispersion: number;
}

export interface CellMeasurement {
  /** Of windows of a minute: the median of their percentiles, ms; null where hardly anybody is answered. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Of the requests that came: the share that was answered; that was refused. */
  readonly answered: number;
  readonly dropped: number;
  /** Share of the CPU limit that was used, and of the memory limit. */
  readonly cpu: number;
  readonly memory: number;
}

/** Requests per second that a cell asks for. */
export const cellRate = ({ application, cores, replicas, utilisation }: AgreementCell): number =>
  (utilisation * replicas * cores * 1_000) / meanWork(application).cpu;

export interface MeasureOptions {
  readonly nodes: readonly NodeSpec[];
  readonly seed: number;
  /** Minutes that count, after the first two. */
  readonly minutes: number;
}

/** Below this share of answers, the few there are say nothing about latency. */
const ANSWERED_ENOUGH = 0.05;
const MINUTE = 60_000;
const WARMUP_MINUTES = 2;
// Two copies of the workload: a world reports one percentile of each.
const [half, tail] = ["half" as WorkloadId, "tail" as WorkloadId];

export function measureCell(
  makeWorld: (options: WorldOptions) => ClusterWorld,
  cell: AgreementCell,
  { nodes, seed, minutes }: MeasureOptions,
): CellMeasurement {
  const world = makeWorld(worldOptions(cell, { nodes, seed }));
  const windows = { [half]: [] as number[], [tail]: [] as number[] };
  const sums = { arrived: 0, answered: 0, dropped: 0, cpuUsed: 0, cpuLimit: 0, memoryUsed: 0, memoryLimit: 0 };
  for (let minute = 1; minute <= WARMUP_MINUTES + minutes; minute++) {
    world.advance(milliseconds(minute * MINUTE));
    for (const id of [half, tail]) {
      const truth = world.truth(id);
      if (minute <= WARMUP_MINUTES) continue;
      if (truth.latency !== null) windows[id]?.push(truth.latency);
      sums.arrived += truth.arrived;
      sums.answered += truth.completed;
      sums.dropped += truth.dropped;
      sums.cpuUsed += truth.cpuUsed;
      sums.cpuLimit += truth.cpuLimit;
      sums.memoryUsed += truth.memoryUsed;
      sums.memoryLimit += truth.memoryLimit;
    }
  }
  const answered = sums.answered / Math.max(1, sums.arrived);
  const isTelling = answered >= ANSWERED_ENOUGH;
  return {
    p50: isTelling ? middle(windows[half] ?? []) : null,
    p99: isTelling ? middle(windows[tail] ?? []) : null,
    answered,
    dropped: sums.dropped / Math.max(1, sums.arrived),
    cpu: sums.cpuUsed / sums.cpuLimit,
    memory: sums.memoryUsed / sums.memoryLimit,
  };
}

/**
 * How far a latency is from the one it should be, relative to that; null where neither rung has one. Where only one of
 * them has, they are as far apart as can be: 1.
 */
export function latencyError(fluid: number | null, event: number | null): number | null {
  if (fluid === null || event === null) return fluid === event ? null : 1;
  return Math.abs(fluid / event - 1);
}

function worldOptions(cell: AgreementCell, { nodes, seed }: Pick<MeasureOptions, "nodes" | "seed">): WorldOptions {
  const { application, cores, replicas, dispersion } = cell;
  const { base, cache, perRequest } = application.memory;
  const largest = Math.max(...application.sizes);
  // Room for all that threads and queue can hold: kills have tests of their own.
  const memory = bytes(Math.ceil(base + cache + perRequest * largest * (application.threads + application.queue)));
  const load = { id: "steady", level: "high" as const, perMinute: Float64Array.of(cellRate(cell)), dispersion };
  const initial = { replicas, cpu: millicores(Math.round(cores * 1_000)), memory };
  const target = application.timeout;
  return {
    seed,
    start: milliseconds(0),
    nodes,
    workloads: [half, tail].map((id) => {
      const quantile = id === half ? 0.5 : 0.99;
      return { id, application, load, slo: { kind: "latency", quantile, target }, initial, resize: "in-place" };
    }),
  };
}

function middle(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
