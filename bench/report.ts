/**
 * What a bench returns: figures with their peers, what was absent, and the machine they were taken on.
 * Owns: the report's shape, the machine's description, the construction of a comparison.
 * Not here: taking times (measure.ts), printing them (the CLI).
 */

import { arch, availableParallelism, cpus, loadavg, platform, release } from "node:os";

export interface Figure {
  /** Stable, dotted: `ddpg.wasm.torch`. */
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The peer and its own value, measured in the same run. */
  readonly peer?: string;
  /** How many times faster than the peer (or, where the target says so, how many times its time). */
  readonly ratio?: number;
  readonly target?: string;
  readonly holds?: boolean;
  /** The same quantity as `value`, as the median of all rounds instead of the best. */
  readonly median?: number;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  readonly node: string;
  /** One-minute load before and after: a busy machine explains medians far from the best. */
  readonly loadBefore: number;
  readonly loadAfter: number;
  /**
   * Median of wall over processor time of the one-thread rounds. Near 1 the machine was ours; well above it others
   * were at work, caches were shared, and large programs such as PyTorch suffered more than small ones.
   */
  readonly crowding?: number;
  readonly at: string;
}

export interface BenchReport {
  readonly figures: readonly Figure[];
  /** Peers that could not be measured, each with the reason and what to do. */
  readonly absent: readonly string[];
  readonly machine: Machine;
}

export interface BenchContext {
  /** Less time, fewer rounds: ends within a minute. */
  readonly quick: boolean;
  readonly log: (text: string) => void;
  readonly signal: AbortSignal;
  /** Whether missing peers may be downloaded into the user's cache folder. */
  readonly setupPeers?: boolean;
}

export interface Bench {
  readonly title: string;
  run(context: BenchContext): Promise<BenchReport>;
}

/** Call at the start; the returned function, called at the end, completes the description. */
export function describeMachine(): (observed?: { crowding: number }) => Machine {
  const loadBefore = round(loadavg()[0] ?? 0);
  return (observed) => ({
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    loadBefore,
    loadAfter: round(loadavg()[0] ?? 0),
    ...(observed ? { crowding: round(observed.crowding) } : {}),
    at: new Date().toISOString(),
  });
}

/** A bound on a ratio, in words and as a check. */
export interface Bound {
  readonly text: string;
  readonly accepts: (ratio: number) => boolean;
}

export const atLeast = (factor: number, what: string): Bound => ({
  text: `at least ${factor}× ${what}`,
  accepts: (ratio) => ratio >= factor,
});

export const atMost = (limit: number, what: string): Bound => ({
  text: `at most ${limit} ${what}`,
  accepts: (value) => value <= limit,
});

/** Three significant digits: more would be noise. */
export function round(value: number): number {
  return Number.isFinite(value) && value !== 0 ? Number(value.toPrecision(3)) : value;
}
