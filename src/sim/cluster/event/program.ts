/**
 * An application as the event rung runs it: the same figures in arrays.
 * Owns: the layout. Not here: the application (workloads/), drawing a request's work.
 */
import type { Application } from "../workloads/index.ts";

export interface Program {
  readonly application: Application;
  readonly phases: number;
  readonly widths: Float64Array;
  readonly io: Float64Array;
  readonly network: Float64Array;
  readonly threads: number;
  readonly queue: number;
  readonly timeout: number;
  readonly retries: number;
  readonly base: number;
  readonly perRequest: number;
  readonly cache: number;
  /** CPU time beyond the usual when there is no cache at all, as a share of it. */
  readonly missExtra: number;
  /** The same for a pod that has just started, and how long it takes to pass. */
  readonly coldExtra: number;
  readonly coldSpan: number;
}

export function compileApplication(application: Application): Program {
  const { phases, memory, warmup } = application;
  return {
    application,
    phases: phases.length,
    widths: Float64Array.from(phases, ({ width }) => width),
    io: Float64Array.from(phases, ({ io }) => io),
    network: Float64Array.from(phases, ({ network }) => network),
    threads: application.threads,
    queue: application.queue,
    timeout: application.timeout,
    retries: application.retries,
    base: memory.base,
    perRequest: memory.perRequest,
    cache: memory.cache,
    missExtra: Math.max(0, memory.missPenalty - 1),
    coldExtra: Math.max(0, warmup.factor - 1),
    coldSpan: warmup.span,
  };
}
