/**
 * A small line of the latest latencies against the SLO, and the twin's thinner beside it.
 * Owns: scaling and drawing. It writes attributes directly: fifty of them move ten times a second.
 */
import { effect } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { describeSlo, type SeriesColumn } from "../../../src/contract/index.ts";
import type { Columns } from "../plane/history.ts";
import { loadPast } from "../plane/load-past.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { latency, percent } from "../words/format.ts";
import { targetOn, targetWords } from "../words/slo-words.ts";
import { watchVisible } from "./visible.ts";

const WIDTH = 180;
const HEIGHT = 40;
/** Of the managed world's time. */
export const SPARK_MINUTES = 30;

export function Sparkline({ cell }: { cell: WorkloadCell }): ComponentChild {
  const host = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const svg = host.current;
    if (svg === null) return;
    const { isVisible, stop } = watchVisible(svg);
    const dispose = effect(() => {
      if (!isVisible.value) return;
      loadPast(cell);
      void cell.grown.value;
      draw(svg, cell);
    });
    return () => {
      dispose();
      stop();
    };
  }, [cell]);
  return (
    <svg
      ref={host}
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Latency of the latest steps"
    >
      <rect class="allowed" x="0" width={WIDTH} />
      <path class="target" />
      <path class="twin" />
      <path class="ours" />
    </svg>
  );
}

function draw(svg: SVGSVGElement, cell: WorkloadCell): void {
  const { history } = cell;
  const slo = cell.slo.value;
  const { judged } = describeSlo(slo.kind);
  const column = judged?.by ?? "load";
  const from = firstAfter(history.at, (history.at.at(-1) ?? 0) - SPARK_MINUTES * 60);
  const at = history.at.slice(from);
  const ours = latest(history.ours, { column, from });
  const twin = latest(history.twin, { column, from });
  const target = targetOn(slo, column);
  const highest = Math.max(0, ...[...ours, ...twin].map((value) => (Number.isFinite(value) ? (value ?? 0) : 0)));
  const isFloor = judged?.target === "floor";
  // A peak far above the target is cut off: where the line is near the target matters more. A share never exceeds one.
  const top = isFloor
    ? 1.25
    : target === null
      ? highest * 1.1 || 1
      : Math.max(target * 1.5, Math.min(highest * 1.05, target * 3));
  const y = (value: number): number => HEIGHT - 2 - (Math.min(value, top) / top) * (HEIGHT - 4);
  const [allowed, line, thin, bold] = svg.children;
  const edge = target === null ? 0 : y(target);
  allowed?.setAttribute("y", String(isFloor ? 0 : edge));
  allowed?.setAttribute("height", String(target === null ? 0 : isFloor ? edge : HEIGHT - edge));
  line?.setAttribute("d", target === null ? "" : `M0 ${edge}H${WIDTH}`);
  thin?.setAttribute("d", pathOf(at, { values: twin, y }));
  bold?.setAttribute("d", pathOf(at, { values: ours, y }));
  svg.setAttribute("aria-label", describe(cell, ours.at(-1) ?? null));
}

interface Shown {
  readonly column: SeriesColumn;
  readonly from: number;
}

/** Where requests came and none was answered there is no latency: that is the worst there is, not a gap. */
function latest(columns: Columns, { column, from }: Shown): (number | null)[] {
  const values = columns[column].slice(from);
  if (column !== "latency") return values;
  const kept = columns.preservation;
  return values.map((value, index) =>
    value === null && (kept[from + index] ?? 1) < 1 ? Number.POSITIVE_INFINITY : value,
  );
}

/** The first index that is not before `time`; times rise. */
function firstAfter(at: readonly number[], time: number): number {
  let index = at.length;
  while (index > 0 && (at[index - 1] ?? 0) >= time) index -= 1;
  return index;
}

interface Line {
  readonly values: readonly (number | null)[];
  readonly y: (value: number) => number;
}

/** The newest on the right; what is not there yet leaves the left empty. */
function pathOf(at: readonly number[], { values, y }: Line): string {
  const last = at.at(-1) ?? 0;
  const perSecond = WIDTH / (SPARK_MINUTES * 60);
  let path = "";
  let isDown = false;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null;
    if (value === null) isDown = false;
    else {
      const x = WIDTH - (last - (at[index] ?? 0)) * perSecond;
      path += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
  }
  return path;
}

function describe(cell: WorkloadCell, last: number | null): string {
  const slo = cell.slo.value;
  const { judged, share } = describeSlo(slo.kind);
  if (judged === null) return `Load of ${cell.title.value} in the latest steps`;
  if (share !== undefined) return `${share.line} in the latest steps, now ${percent(last)}`;
  return `Latency of the latest steps, now ${latency(last)}, target ${targetWords(slo)}`;
}
