/**
 * A small line of the latest latencies against the SLO, and the twin's thinner beside it.
 * Owns: scaling and drawing. It writes attributes directly: fifty of them move ten times a second.
 */
import { effect } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Columns } from "../plane/history.ts";
import { loadPast } from "../plane/load-past.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { latency, percent } from "../words/format.ts";
import { watchVisible } from "./visible.ts";

const WIDTH = 180;
const HEIGHT = 40;
/** Steps that are shown. */
export const SPARK_STEPS = 90;

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
  const column = slo.kind === "latency" ? "latency" : slo.kind === "throughput" ? "preservation" : "load";
  const ours = latest(history.ours, column);
  const twin = latest(history.twin, column);
  const target = slo.kind === "latency" ? slo.target : slo.kind === "throughput" ? 1 : null;
  const highest = Math.max(0, ...[...ours, ...twin].map((value) => (Number.isFinite(value) ? (value ?? 0) : 0)));
  const isFloor = slo.kind === "throughput";
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
  thin?.setAttribute("d", pathOf(twin, y));
  bold?.setAttribute("d", pathOf(ours, y));
  svg.setAttribute("aria-label", describe(cell, ours.at(-1) ?? null));
}

/** Where requests came and none was answered there is no latency: that is the worst there is, not a gap. */
function latest(columns: Columns, name: "latency" | "preservation" | "load"): (number | null)[] {
  const values = columns[name].slice(-SPARK_STEPS);
  if (name !== "latency") return values;
  const kept = columns.preservation.slice(-SPARK_STEPS);
  return values.map((value, index) => (value === null && (kept[index] ?? 1) < 1 ? Number.POSITIVE_INFINITY : value));
}

function pathOf(values: readonly (number | null)[], y: (value: number) => number): string {
  const step = WIDTH / (SPARK_STEPS - 1);
  let path = "";
  let isDown = false;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null;
    if (value === null) isDown = false;
    else {
      const x = (SPARK_STEPS - values.length + index) * step;
      path += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
  }
  return path;
}

function describe(cell: WorkloadCell, last: number | null): string {
  const slo = cell.slo.value;
  if (slo.kind === "none") return `Load of ${cell.title.value} in the latest steps`;
  if (slo.kind === "throughput") return `Share of the throughput served in the latest steps, now ${percent(last)}`;
  return `Latency of the latest steps, now ${latency(last)}, target ${latency(slo.target)}`;
}
