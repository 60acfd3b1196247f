/**
 * A small line of the latest latencies against the SLO, and the twin's thinner beside it.
 * Owns: scaling and drawing. It writes attributes directly: fifty of them move ten times a second.
 */
import { effect } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { loadPast } from "../plane/load-past.ts";
import type { WorkloadCell } from "../plane/store.ts";
import { latency } from "../words/format.ts";
import { watchVisible } from "./visible.ts";

const WIDTH = 180;
const HEIGHT = 40;
const SHOWN = 90;

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
  const ours = history.ours[column].slice(-SHOWN);
  const twin = history.twin[column].slice(-SHOWN);
  const target = slo.kind === "latency" ? slo.target : slo.kind === "throughput" ? 1 : null;
  const highest = Math.max(...ours.map((value) => value ?? 0), ...twin.map((value) => value ?? 0), 0);
  // A peak far above the target is cut off: where the line is near the target matters more.
  const top = target === null ? highest * 1.1 || 1 : Math.max(target * 1.5, Math.min(highest * 1.05, target * 3));
  const y = (value: number): number => HEIGHT - 2 - (Math.min(value, top) / top) * (HEIGHT - 4);
  const [allowed, line, thin, bold] = svg.children;
  const edge = target === null ? 0 : y(target);
  const isFloor = slo.kind === "throughput";
  allowed?.setAttribute("y", String(isFloor ? 0 : edge));
  allowed?.setAttribute("height", String(target === null ? 0 : isFloor ? edge : HEIGHT - edge));
  line?.setAttribute("d", target === null ? "" : `M0 ${edge}H${WIDTH}`);
  thin?.setAttribute("d", pathOf(twin, y));
  bold?.setAttribute("d", pathOf(ours, y));
  svg.setAttribute("aria-label", describe(cell, ours.at(-1) ?? null));
}

function pathOf(values: readonly (number | null)[], y: (value: number) => number): string {
  const step = WIDTH / (SHOWN - 1);
  let path = "";
  let isDown = false;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null;
    if (value === null) isDown = false;
    else {
      const x = (SHOWN - values.length + index) * step;
      path += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
  }
  return path;
}

function describe(cell: WorkloadCell, last: number | null): string {
  const slo = cell.slo.value;
  if (slo.kind !== "latency") return `Latest steps of ${cell.title.value}`;
  return `Latency of the latest steps, now ${latency(last)}, target ${latency(slo.target)}`;
}
