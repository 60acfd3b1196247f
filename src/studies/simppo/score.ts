/**
 * What callers got under a method: scored by the world's truth, which no controller sees.
 * Owns: 99th percentiles over whole runs, shares of calls that were late or lost. Not here: rewards (control/tasks/functions).
 */
import type { WorkloadId } from "../../base/index.ts";
import type { ServerlessWorld } from "../../sim/index.ts";
import { PercentileSketch } from "../statistics/index.ts";

export interface FunctionScore {
  readonly workload: string;
  /** End to end, of all calls that were answered, ms, to within 1 %. */
  readonly p99: number;
  /** Late, killed, dropped or refused, as a part of all that ended. */
  readonly missedCalls: number;
  readonly calls: number;
  /** Core-seconds used of those granted; the same of memory. */
  readonly cpuUse: number;
  readonly memoryUse: number;
}

interface Sums {
  readonly latencies: PercentileSketch;
  missed: number;
  ended: number;
  cpuUsed: number;
  cpuGranted: number;
  memoryUsed: number;
  memoryGranted: number;
}

export class Score {
  readonly #sums = new Map<WorkloadId, Sums>();

  /** After each step, of all functions that are there. */
  add(world: ServerlessWorld): void {
    for (const workload of world.functions) {
      const truth = world.truth(workload);
      const sums = this.#of(workload);
      for (const latency of truth.latencies) sums.latencies.add(latency);
      const lost = truth.killed + truth.dropped + truth.refused;
      sums.missed += truth.late + lost;
      sums.ended += truth.completed + lost;
      sums.cpuUsed += truth.cpuUsed;
      sums.cpuGranted += truth.cpuGranted;
      sums.memoryUsed += truth.memoryUsed;
      sums.memoryGranted += truth.memoryGranted;
    }
  }

  done(): readonly FunctionScore[] {
    return [...this.#sums].map(([workload, sums]) => ({
      workload,
      p99: sums.latencies.quantile(0.99) ?? 0,
      missedCalls: sums.missed / Math.max(1, sums.ended),
      calls: sums.ended,
      cpuUse: sums.cpuUsed / Math.max(1e-9, sums.cpuGranted),
      memoryUse: sums.memoryUsed / Math.max(1e-9, sums.memoryGranted),
    }));
  }

  #of(workload: WorkloadId): Sums {
    const known = this.#sums.get(workload);
    if (known !== undefined) return known;
    const fresh = {
      latencies: new PercentileSketch(),
      missed: 0,
      ended: 0,
      cpuUsed: 0,
      cpuGranted: 0,
      memoryUsed: 0,
      memoryGranted: 0,
    };
    this.#sums.set(workload, fresh);
    return fresh;
  }
}
