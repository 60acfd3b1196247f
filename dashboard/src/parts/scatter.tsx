/**
 * Points on a plane where distance means something: both axes have one scale.
 * Owns: the scale, marks that can be told apart without colour, choosing by pointer. Not here: what the points are, and
 * choosing by keyboard, which whoever uses it has to offer beside it.
 */
import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface ScatterPoint {
  readonly id: string;
  /** Said when the pointer rests on it. */
  readonly about: string;
  readonly at: readonly [number, number];
  /** Which mark and colour; of as many as there are. */
  readonly kind: number;
  /** Drawn large and with its name. */
  readonly name?: string;
}

export interface ScatterProps {
  readonly label: string;
  readonly points: readonly ScatterPoint[];
  readonly chosen: string | null;
  /** Points that the chosen one is tied to. */
  readonly ties: readonly string[];
  readonly choose: (id: string) => void;
}

/** Until it is known how wide it is. Marks and names are drawn in the screen's pixels, so that a phone's are no smaller. */
const USUAL_WIDTH = 640;
const [LEAST_HEIGHT, MOST_HEIGHT] = [300, 520];
const PAD = 28;
/** Further from every point than this, a click chooses none. */
const REACH = 24;

/** Around the middle, as large as they fit. */
const MARKS: readonly string[] = [
  "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
  "M-4 -4h8v8h-8z",
  "M0 -5.2l5 8.7h-10z",
  "M0 -5.8l5.8 5.8l-5.8 5.8l-5.8 -5.8z",
  "M0 5.2l5 -8.7h-10z",
  "M-1.7 -5.2h3.4v3.5h3.5v3.4h-3.5v3.5h-3.4v-3.5h-3.5v-3.4h3.5z",
];
/** A managed workload: a star, whatever its kind. */
const STAR = "M0 -10l2.6 6.7l7.2 0.4l-5.6 4.5l1.9 6.9l-6.1 -3.9l-6.1 3.9l1.9 -6.9l-5.6 -4.5l7.2 -0.4z";

export const Mark = ({ kind }: { kind: number }): ComponentChild => (
  <svg class={`mark-key kind-${kind % MARKS.length}`} viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
    <path d={MARKS[kind % MARKS.length] ?? ""} />
  </svg>
);

export interface Frame {
  readonly height: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** One scale for both axes, all points inside. */
export function frameOf(points: readonly { readonly at: readonly [number, number] }[], width: number): Frame {
  const span = (axis: 0 | 1): { low: number; size: number } => {
    const values = points.map(({ at }) => at[axis]);
    const low = Math.min(...values, Number.POSITIVE_INFINITY);
    const high = Math.max(...values, Number.NEGATIVE_INFINITY);
    return Number.isFinite(low) ? { low, size: high - low } : { low: 0, size: 0 };
  };
  const [across, up] = [span(0), span(1)];
  const inner = width - 2 * PAD;
  const fitting = across.size > 0 ? inner / across.size : 1;
  const height = Math.min(Math.max(up.size * fitting + 2 * PAD, LEAST_HEIGHT), MOST_HEIGHT);
  const scale = up.size > 0 ? Math.min(fitting, (height - 2 * PAD) / up.size) : fitting;
  const left = (width - across.size * scale) / 2;
  const bottom = (height + up.size * scale) / 2;
  return {
    height,
    x: (value) => left + (value - across.low) * scale,
    y: (value) => bottom - (value - up.low) * scale,
  };
}

export function Scatter({ label, points, chosen, ties, choose }: ScatterProps): ComponentChild {
  const host = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(USUAL_WIDTH);
  useEffect(() => {
    const svg = host.current;
    if (svg === null) return;
    const resized = new ResizeObserver(() => {
      if (svg.clientWidth > 0) setWidth(svg.clientWidth);
    });
    resized.observe(svg);
    return () => resized.disconnect();
  }, []);
  const { height, x, y } = frameOf(points, width);
  const place = ({ at }: ScatterPoint): { x: number; y: number } => ({ x: x(at[0]), y: y(at[1]) });
  const centre = points.find(({ id }) => id === chosen);
  const tied = points.filter(({ id }) => ties.includes(id));
  const onClick = (event: MouseEvent): void => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return;
    const perPixel = width / box.width;
    const at = { x: (event.clientX - box.left) * perPixel, y: (event.clientY - box.top) * perPixel };
    const near = nearestTo(
      at,
      points.map((point) => ({ id: point.id, ...place(point) })),
    );
    if (near !== null) choose(near);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: whoever uses it offers the same choice by keyboard beside it
    <svg ref={host} class="scatter" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} onClick={onClick}>
      {centre === undefined
        ? null
        : tied.map((point) => {
            const [from, to] = [place(centre), place(point)];
            return <path key={point.id} class="tie" d={`M${from.x} ${from.y}L${to.x} ${to.y}`} />;
          })}
      {points.map((point) => {
        const { x: left, y: top } = place(point);
        const state = point.id === chosen ? " chosen" : ties.includes(point.id) ? " tied" : "";
        return (
          <g
            key={point.id}
            class={`${point.name === undefined ? `kind-${point.kind % MARKS.length}` : "managed"}${state}`}
            transform={`translate(${left.toFixed(1)} ${top.toFixed(1)})`}
          >
            <title>{point.about}</title>
            {point.id === chosen ? <circle class="ring" r="11" /> : null}
            <path d={point.name === undefined ? (MARKS[point.kind % MARKS.length] ?? "") : STAR} />
            {point.name === undefined ? null : (
              <text x={left > width * 0.6 ? -14 : 14} y="4" text-anchor={left > width * 0.6 ? "end" : "start"}>
                {point.name}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

export function nearestTo(at: Spot, points: readonly (Spot & { readonly id: string })[]): string | null {
  let best: { readonly id: string; readonly far: number } | null = null;
  for (const { id, x, y } of points) {
    const far = Math.hypot(x - at.x, y - at.y);
    if (far <= REACH && (best === null || far <= best.far)) best = { id, far };
  }
  return best?.id ?? null;
}
