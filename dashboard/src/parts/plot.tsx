/**
 * Line charts: uPlot in the colours of the theme, one shared cursor per group, drawn only while on the screen.
 * Owns: axes, target lines, resizing, the cursor's time. Not here: what is drawn (views).
 */
import { effect, type Signal, signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colour, isDark } from "../theme.ts";
import { clock, shortClock } from "../words/format.ts";
import { type Colour, drawMarks, drawPeaks, type Mark } from "./plot-drawing.ts";
import { watchVisible } from "./visible.ts";

export interface PlotLine {
  readonly label: string;
  readonly colour: Colour;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly isStepped?: boolean;
  readonly hasPoints?: boolean;
}

export interface PlotSpec {
  /** What the chart shows, for those who do not see it. */
  readonly label: string;
  readonly height: number;
  readonly x: "time" | "count";
  readonly hasXAxis: boolean;
  readonly startsAtZero: boolean;
  readonly lines: readonly PlotLine[];
  readonly say: (value: number) => string;
  /** Steps of the y axis, where the usual 1, 2, 5 make no round numbers. */
  readonly steps?: readonly number[];
  readonly marks?: () => readonly Mark[];
  /** The scale ends here at the latest: one peak must not press everything else flat. What is higher is written there. */
  readonly ceiling?: () => number | null;
  /** Draws on the canvas before axes and lines do. */
  readonly behind?: (plot: uPlot) => void;
  /** Draws on the canvas itself; its y axis is then left empty. */
  readonly draw?: (plot: uPlot) => void;
}

export class CursorGroup {
  readonly key: string;
  readonly plots = new Set<uPlot>();
  /** Where a person looks, in x; null is the newest. */
  readonly lookAt: Signal<number | null> = signal(null);

  #yAxis = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** The width of everybody's y axis, which only grows: one that came and went would make the charts jump. */
  widen(needed: number, by: uPlot): number {
    if (needed > this.#yAxis) {
      this.#yAxis = needed;
      const others = [...this.plots].filter((plot) => plot !== by);
      // Not while this one is being drawn.
      queueMicrotask(() => {
        for (const plot of others) if (this.plots.has(plot)) plot.redraw(false, true);
      });
    }
    return this.#yAxis;
  }

  /** Puts the cursor of every chart of the group there. */
  point(x: number | null): void {
    this.lookAt.value = x;
    for (const plot of this.plots)
      plot.setCursor(x === null ? { left: -10, top: -10 } : { left: plot.valToPos(x, "x"), top: 8 }, false);
  }
}

interface PlotProps {
  readonly spec: PlotSpec;
  /** Read inside an effect: the chart follows the signals that it touches. */
  readonly data: () => uPlot.AlignedData;
  readonly group: CursorGroup | null;
}

export function Plot({ spec, data, group }: PlotProps): ComponentChild {
  const host = useRef<HTMLDivElement>(null);
  // A chart is built once and then fed by signals
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const plot = new uPlot(
      optionsOf(spec, { group, width: element.clientWidth }),
      [[], ...spec.lines.map(() => [])],
      element,
    );
    group?.plots.add(plot);
    const { isVisible, stop } = watchVisible(element);
    const dispose = effect(() => {
      void isDark.value;
      if (isVisible.value) plot.setData(data());
    });
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: spec.height });
    });
    resized.observe(element);
    return () => {
      dispose();
      stop();
      resized.disconnect();
      group?.plots.delete(plot);
      plot.destroy();
    };
  }, []);
  return <div ref={host} class="plot" role="img" aria-label={spec.label} />;
}

const MINUTE = 60;
/** With seconds where they lie less than a minute apart, or neighbours would read the same. */
function timesAt(splits: readonly number[]): string[] {
  const [first = 0, second = first + MINUTE] = splits;
  return splits.map((at) => (second - first < MINUTE ? clock(at * 1000) : shortClock(at * 1000)));
}

const GRID = (): string => colour("--grid");
const QUIET = (): string => colour("--quiet");
const FONT = "11px system-ui, sans-serif";
/** As wide as most labels are, with the gap to the chart. */
const Y_AXIS = 62;
const Y_GAP = 6;

/** As wide as the longest label of any chart of the group: under one another they have one time axis. */
function yAxisSize(plot: uPlot, labels: readonly string[] | null, group: CursorGroup | null): number {
  plot.ctx.font = FONT;
  const longest = Math.max(0, ...(labels ?? []).map((label) => plot.ctx.measureText(label).width));
  const needed = Math.max(Y_AXIS, Math.ceil(longest) + 2 * Y_GAP);
  return group === null ? needed : group.widen(needed, plot);
}

function optionsOf(spec: PlotSpec, place: { group: CursorGroup | null; width: number }): uPlot.Options {
  const { group } = place;
  return {
    width: Math.max(place.width, 50),
    height: spec.height,
    padding: [8, 20, spec.hasXAxis ? 0 : 6, 0],
    legend: { show: false },
    cursor: {
      ...(group === null ? {} : { sync: { key: group.key, scales: ["x", null] as [string, null] } }),
      drag: { x: false, y: false },
      y: false,
      points: { size: 6 },
    },
    scales: {
      x: { time: spec.x === "time", ...(spec.x === "count" ? { range: countRange } : {}) },
      y: { range: (_plot, low, high) => rangeOf(spec, { low, high }) },
    },
    axes: [
      {
        show: spec.hasXAxis,
        stroke: QUIET,
        font: FONT,
        size: 28,
        // Room for a time with its seconds.
        space: 70,
        gap: 4,
        grid: { stroke: GRID, width: 1 },
        ticks: { show: false },
        values: (_plot, splits) => (spec.x === "time" ? timesAt(splits) : splits.map(String)),
        ...(spec.x === "count" ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] } : {}),
      },
      {
        stroke: QUIET,
        font: FONT,
        size: (plot, labels) => yAxisSize(plot, labels, group),
        gap: Y_GAP,
        space: 26,
        grid: { stroke: GRID, width: 1, show: spec.draw === undefined },
        ticks: { show: false },
        ...(spec.steps === undefined ? {} : { incrs: [...spec.steps] }),
        values: (_plot, splits) => splits.map((value) => (spec.draw === undefined ? spec.say(value) : "")),
      },
    ],
    series: [{}, ...spec.lines.map(lineOf)],
    hooks: {
      drawClear: [(plot) => spec.behind?.(plot)],
      draw: [
        (plot) => {
          if (spec.draw !== undefined) return spec.draw(plot);
          drawMarks(plot, spec.marks?.() ?? []);
          const line = 1 + spec.lines.findLastIndex(({ dash }) => dash === undefined);
          if (spec.ceiling !== undefined) drawPeaks(plot, { line, say: spec.say });
        },
      ],
      setCursor: [
        (plot) => {
          if (group === null || plot.cursor.event === undefined || plot.cursor.event === null) return;
          const index = plot.cursor.idx;
          group.lookAt.value = index === null || index === undefined ? null : (plot.data[0][index] ?? null);
        },
      ],
    },
  };
}

function lineOf(line: PlotLine): uPlot.Series {
  const stepped = line.isStepped === true ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label: line.label,
    stroke: () => colour(line.colour),
    width: line.width ?? 2,
    points: { show: line.hasPoints === true, size: 5, fill: () => colour(line.colour) },
    ...(line.dash === undefined ? {} : { dash: [...line.dash] }),
    ...(stepped === undefined ? {} : { paths: stepped }),
  };
}

function rangeOf(spec: PlotSpec, found: { low: number | null; high: number | null }): [number, number] {
  const marks = (spec.marks?.() ?? []).map(({ value }) => value);
  const low = Math.min(
    found.low ?? Number.POSITIVE_INFINITY,
    ...marks,
    spec.startsAtZero ? 0 : Number.POSITIVE_INFINITY,
  );
  const high = Math.max(
    found.high ?? Number.NEGATIVE_INFINITY,
    ...marks,
    spec.startsAtZero ? 0 : Number.NEGATIVE_INFINITY,
  );
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.12;
  const top = Math.min(high + room, spec.ceiling?.() ?? Number.POSITIVE_INFINITY);
  return [spec.startsAtZero && low >= 0 ? 0 : low - room, top];
}

const countRange = (_plot: uPlot, low: number | null, high: number | null): [number, number] =>
  low === null || high === null ? [0, 10] : [low, Math.max(high, low + 1)];
