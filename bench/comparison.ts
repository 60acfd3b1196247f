/**
 * From timings to figures: a contender's own figure, and its comparison with a peer against a bound.
 * The figure is processor time of the best round unless threads are the point, where only the wall tells.
 */

import type { Bound, Figure } from "./report.ts";
import { round } from "./report.ts";
import type { Timing } from "./statistics.ts";

export interface Unit {
  readonly name: string;
  /** Nanoseconds per unit. */
  readonly ns: number;
}

export const MICROSECONDS: Unit = { name: "µs", ns: 1e3 };
export const MILLISECONDS: Unit = { name: "ms", ns: 1e6 };

export type Clock = "processor" | "wall";

export interface Measured {
  /** For people: "PyTorch 2.15.0". */
  readonly label: string;
  readonly timing: Timing;
}

export interface ComparisonOptions {
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly clock?: Clock;
}

const bestOf = ({ timing }: Measured, clock: Clock) => (clock === "wall" ? timing.bestWall : timing.best);
const medianOf = ({ timing }: Measured, clock: Clock) => (clock === "wall" ? timing.medianWall : timing.median);

/** What a contender took, compared with nobody. */
export function plainFigure(own: Measured, { id, what, unit, clock = "processor" }: ComparisonOptions): Figure {
  return {
    id,
    what: `${what}, ${own.label}`,
    value: round(bestOf(own, clock) / unit.ns),
    unit: unit.name,
    median: round(medianOf(own, clock) / unit.ns),
  };
}

/** How many times faster than the peer: the peer's time over ours. */
export function speedup(pair: { ours: Measured; peer: Measured; bound?: Bound }, options: ComparisonOptions): Figure {
  const clock = options.clock ?? "processor";
  return compared(pair, options, bestOf(pair.peer, clock) / bestOf(pair.ours, clock));
}

/** How many times the peer's time we take: ours over the peer's. */
export function timeRatio(pair: { ours: Measured; peer: Measured; bound?: Bound }, options: ComparisonOptions): Figure {
  const clock = options.clock ?? "processor";
  return compared(pair, options, bestOf(pair.ours, clock) / bestOf(pair.peer, clock));
}

function compared(
  { ours, peer, bound }: { ours: Measured; peer: Measured; bound?: Bound },
  options: ComparisonOptions,
  ratio: number,
): Figure {
  const { unit, clock = "processor" } = options;
  const peerValue = round(bestOf(peer, clock) / unit.ns);
  return {
    ...plainFigure(ours, options),
    peer: `${peer.label}: ${peerValue} ${unit.name}`,
    ratio: round(ratio),
    ...(bound ? { target: bound.text, holds: bound.accepts(ratio) } : {}),
  };
}
