/**
 * A small line over time, with the times in which its subject was away left white and marked at both ends.
 * Owns: scaling and drawing. Not here: larger charts with axes (plot.tsx), what it is about (views).
 */
import type { ComponentChild } from "preact";
import type { FleetChange } from "../../../src/contract/index.ts";

const WIDTH = 240;
const HEIGHT = 44;
const EDGE = 3;

export interface CurveProps {
  readonly label: string;
  readonly at: readonly number[];
  readonly values: readonly (number | null)[];
  readonly range: readonly [low: number, high: number];
  /** Its own, oldest first. */
  readonly changes: readonly FleetChange[];
  readonly isPresent: boolean;
}

export function Curve({ label, at, values, range, changes, isPresent }: CurveProps): ComponentChild {
  const [first, last] = [at[0] ?? 0, at.at(-1) ?? 1];
  const x = (time: number): number => ((time - first) / Math.max(1, last - first)) * WIDTH;
  const [low, high] = range;
  const y = (value: number): number =>
    HEIGHT - EDGE - ((value - low) / Math.max(1e-9, high - low)) * (HEIGHT - 2 * EDGE);
  return (
    <svg class="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {absences({ changes, isPresent, first, last }).map(({ from, to }) => (
        <rect
          key={from}
          class="away"
          x={x(from).toFixed(1)}
          width={Math.max(1, x(to) - x(from)).toFixed(1)}
          height={HEIGHT}
        />
      ))}
      <path class="floor" d={`M0 ${y(low).toFixed(1)}H${WIDTH}`} />
      <path class="ours" d={pathOf(at, values, { x, y })} />
      {changes.map(({ at: when, kind }) => (
        <path key={when} class={kind} d={`M${x(when).toFixed(1)} 0V${HEIGHT}`} />
      ))}
    </svg>
  );
}

interface Absence {
  readonly from: number;
  readonly to: number;
}

interface Known {
  readonly changes: readonly FleetChange[];
  /** Now. */
  readonly isPresent: boolean;
  readonly first: number;
  readonly last: number;
}

/** Between a leave and the join that follows, at the ends of what is known as far as that reaches. */
export function absences({ changes, isPresent, first, last }: Known): readonly Absence[] {
  const wasPresent = changes.length === 0 ? isPresent : changes[0]?.kind === "left";
  const found: Absence[] = [];
  let from = wasPresent ? null : first;
  for (const { at, kind } of changes) {
    if (kind === "left") from = Math.max(first, at);
    else if (from !== null) {
      if (at > from) found.push({ from, to: at });
      from = null;
    }
  }
  return from !== null && last > from ? [...found, { from, to: last }] : found;
}

interface Scales {
  readonly x: (time: number) => number;
  readonly y: (value: number) => number;
}

function pathOf(at: readonly number[], values: readonly (number | null)[], { x, y }: Scales): string {
  let path = "";
  let isDown = false;
  values.forEach((value, index) => {
    const time = at[index];
    if (value === null || time === undefined) isDown = false;
    else {
      path += `${isDown ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
      // A point between two gaps would not be seen.
      if (!isDown && (values[index + 1] ?? null) === null) path += "h1";
      isDown = true;
    }
  });
  return path;
}
