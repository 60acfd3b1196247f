/**
 * Figure → SVG, the look of every plot of the project.
 * Colours are Okabe and Ito's, told apart by colour-blind readers; lines differ in dashes too, so that print in grey
 * still reads. Text is in a shipped typeface, so that every machine draws the same picture.
 */

import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { Axis, BarFigure, Figure, Line, LineFigure, ReferenceMark } from "./figure.ts";

export const FONT_FAMILY = "Lato";

const WIDTH = 720;
const HEIGHT = 420;
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "none", "6 3", "2 3"];
const SYMBOLS: readonly Plot.SymbolType[] = ["circle", "square", "triangle", "diamond2", "cross", "star", "wye"];
const REFERENCE = "#555555";
const BAND_OPACITY = 0.16;
const MARGIN = { left: 76, right: 28, bottom: 52 };
const PADDING = { bars: { inner: 0.28, outer: 0.28 }, panels: { inner: 0.12, outer: 0 } };
const LEFT = 20;
const Y_TICKS = 6;
const NAME_SIZE = 13;
const AXIS = { labelAnchor: "center", labelArrow: "none", fontSize: 13 } as const;

/** Title, subtitle and legend stand above the frame; room for a line of each. */
const TITLE_ROOM = { title: 30, subtitle: 18, legend: 24 };
/** Lato's average advance at 13 px is a little under 7 px in short names, and 6 in running text. */
const ADVANCE = { name: 7, text: 6.1 };

export async function figureToSvg(figure: Figure): Promise<string> {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const names = figure.kind === "lines" ? figure.lines.map((line) => line.name) : groupsOf(figure);
  const legend = layOutLegend(figure, names);
  const subtitle = linesOf(figure.subtitle ?? "");
  const top = 14 + TITLE_ROOM.title + subtitle.length * TITLE_ROOM.subtitle + legend.rows * TITLE_ROOM.legend;
  const shared = {
    document,
    width: WIDTH,
    height: HEIGHT + top,
    marginTop: top,
    marginLeft: MARGIN.left,
    marginRight: MARGIN.right,
    marginBottom: MARGIN.bottom,
    style: { fontFamily: FONT_FAMILY, fontSize: "13px", background: "white", color: "#222222" },
  };
  const drawn = figure.kind === "lines" ? plotLines(figure, shared) : plotBars(figure, shared, names);
  const svg = drawn as unknown as SvgElement;
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("role", "img");
  heading(svg, document as unknown as DocumentLike, { title: figure.title, subtitle, legend });
  // Plot numbers its clip paths by process; a figure's bytes must not depend on what was drawn before it.
  return `${svg.outerHTML.replaceAll(/plot-clip-\d+/g, `clip-${figure.id}`)}\n`;
}

/** Broken between words where it would run out of the picture. */
function linesOf(text: string): readonly string[] {
  const most = Math.floor((WIDTH - 2 * LEFT) / ADVANCE.text);
  const lines: string[] = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** The colour of a line or a group by its place; what is compared with it has the same. */
function colourOf(names: readonly string[], name: string | undefined): string {
  const index = name === undefined ? -1 : names.indexOf(name);
  return index < 0 ? REFERENCE : (COLOURS[index % COLOURS.length] as string);
}

interface LegendItem {
  readonly text: string;
  readonly shape: "line" | "bar" | "level" | "range";
  readonly colour: string;
  readonly dash: string;
  readonly x: number;
  readonly row: number;
}

interface Legend {
  readonly items: readonly LegendItem[];
  readonly rows: number;
}

/** Lines or groups if there are several, then levels; in as many rows as they need. */
function layOutLegend(figure: Figure, names: readonly string[]): Legend {
  const series = (names.length > 1 ? names : []).map((text, index) => ({
    text,
    shape: figure.kind === "lines" && figure.lines[index]?.marks !== "points" ? ("line" as const) : ("bar" as const),
    colour: COLOURS[index % COLOURS.length] as string,
    dash: DASHES[index % DASHES.length] as string,
  }));
  const levels = (figure.references ?? []).map(({ label, high, of }) => ({
    text: label,
    shape: high === undefined ? ("level" as const) : ("range" as const),
    colour: colourOf(names, of),
    dash: "3 3",
  }));
  const items: LegendItem[] = [];
  let x = LEFT;
  let row = 0;
  for (const item of [...series, ...levels]) {
    const width = 32 + item.text.length * ADVANCE.name + 22;
    if (x > LEFT && x + width > WIDTH) {
      x = LEFT;
      row += 1;
    }
    items.push({ ...item, x, row });
    x += width;
  }
  return { items, rows: items.length === 0 ? 0 : row + 1 };
}

interface SvgElement {
  setAttribute(name: string, value: string): void;
  appendChild(child: SvgElement): void;
  textContent: string | null;
  readonly outerHTML: string;
}

interface DocumentLike {
  createElementNS(space: string, name: string): SvgElement;
}

type Shared = Plot.PlotOptions;

function axisLabel({ label, unit }: Axis): string {
  return unit === undefined || unit === "" ? label : `${label} (${unit})`;
}

function scaleOptions(axis: Axis) {
  return {
    label: axisLabel(axis),
    type: axis.scale ?? "linear",
    ...(axis.domain ? { domain: axis.domain } : {}),
  } as const;
}

function plotLines(figure: LineFigure, shared: Shared): unknown {
  const references = figure.references ?? [];
  const names = figure.lines.map((line) => line.name);
  const xs = figure.lines.flatMap((line) => [...line.x]);
  const ys = figure.lines.flatMap((line) => [...line.y, ...(line.lo ?? []), ...(line.hi ?? [])]);
  const marks: Plot.Markish[] = [
    Plot.gridY({ ticks: Y_TICKS, stroke: "#e2e2e2", strokeOpacity: 1 }),
    ...references.map((reference) => referenceShape(reference, names)),
    ...figure.lines.flatMap((line, index) => lineMarks(line, index)),
    Plot.axisX({ ...AXIS, label: axisLabel(figure.x), ticks: 7, labelOffset: 42, tickFormat: tickFormatFor(xs) }),
    valueAxis(figure.y, ys),
    Plot.ruleX([figure.x.domain?.[0] ?? lowest(xs)], { stroke: "#222222" }),
  ];
  return Plot.plot({ ...shared, x: scaleOptions(figure.x), y: valueScale(figure.y), marks });
}

function valueAxis(axis: Axis, values: readonly number[]): Plot.Markish {
  const tickFormat = tickFormatFor(values);
  return Plot.axisY({ ...AXIS, label: axisLabel(axis), ticks: Y_TICKS, labelOffset: MARGIN.left - 10, tickFormat });
}

/** Ends that somebody chose are kept; ends from the data are rounded outwards. */
function valueScale(axis: Axis) {
  return { ...scaleOptions(axis), nice: axis.domain === undefined, clamp: false };
}

function lowest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function lineMarks(line: Line, index: number): Plot.Markish[] {
  const stroke = COLOURS[index % COLOURS.length] as string;
  const dash = DASHES[index % DASHES.length] as string;
  const points = line.x.map((x, i) => ({ x, y: line.y[i] as number, lo: line.lo?.[i], hi: line.hi?.[i] }));
  const marks: Plot.Markish[] = [];
  if (line.lo && line.hi) {
    marks.push(Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: stroke, fillOpacity: BAND_OPACITY, clip: true }));
  }
  if (line.marks === "points") {
    // Symbols differ as dashes do, for print in grey.
    const symbol = SYMBOLS[index % SYMBOLS.length] as Plot.SymbolType;
    marks.push(Plot.dot(points, { x: "x", y: "y", stroke, fill: stroke, fillOpacity: 0.35, symbol, r: 4 }));
  } else marks.push(Plot.lineY(points, { x: "x", y: "y", stroke, strokeWidth: 2, strokeDasharray: dash, clip: true }));
  return marks;
}

function referenceShape({ low, high, of }: ReferenceMark, names: readonly string[]): Plot.Markish {
  const colour = colourOf(names, of);
  if (high === undefined) return Plot.ruleY([low], { stroke: colour, strokeDasharray: "3 3", strokeWidth: 1.5 });
  // A hairline below and above, so that two ranges on top of one another stay two.
  return [
    Plot.rectY([{ low, high }], { y1: "low", y2: "high", fill: colour, fillOpacity: 0.13 }),
    Plot.ruleY([low, high], { stroke: colour, strokeDasharray: "3 3", strokeWidth: 1 }),
  ];
}

function groupsOf(figure: BarFigure): readonly string[] {
  return [...new Set(figure.bars.flatMap((bar) => (bar.group === undefined ? [] : [bar.group])))];
}

/** The width of one band, as Plot lays them out: bars have room outside the first and the last, panels have not. */
function bandWidth(range: number, count: number, padding: { readonly inner: number; readonly outer: number }): number {
  return Math.floor(range / (count - padding.inner + 2 * padding.outer)) * (1 - padding.inner);
}

function plotBars(figure: BarFigure, shared: Shared, groups: readonly string[]): unknown {
  const bars = figure.bars.map((bar) => ({
    ...bar,
    group: bar.group ?? "",
    fill: COLOURS[Math.max(0, groups.indexOf(bar.group ?? "")) % COLOURS.length] as string,
    paperLow: bar.paper?.low,
    paperHigh: bar.paper?.high,
  }));
  const isGrouped = groups.length > 1;
  const order = [...new Set(bars.map((bar) => bar.label))];
  const x = isGrouped ? "group" : "label";
  const facet = isGrouped ? { fx: "label" } : {};
  const withInterval = bars.filter((bar) => bar.lo !== undefined && bar.hi !== undefined);
  const withPaper = bars.filter((bar) => bar.paper !== undefined);
  // A whisker's cap is 12 px wide, whatever the bar's width.
  const frame = WIDTH - MARGIN.left - MARGIN.right;
  const panel = isGrouped ? bandWidth(frame, order.length, PADDING.panels) : frame;
  const band = bandWidth(panel, isGrouped ? groups.length : order.length, PADDING.bars);
  const cap = { stroke: "#222222", strokeWidth: 1.5, inset: Math.max(0, band / 2 - 6), ...facet };
  // The paper's mark stands beside the whisker, so that both can be read.
  const beside = { dx: 14, stroke: REFERENCE, ...facet };
  const diamond = { ...beside, symbol: "diamond", r: 4, fill: "white", strokeWidth: 1.5 } as const;
  const references = figure.references ?? [];
  // A name that is wider than its place goes on below itself, not into its neighbour. Widths of lines are in letters' heights.
  const names = { fontSize: NAME_SIZE, lineWidth: frame / order.length / NAME_SIZE };
  const marks: Plot.Markish[] = [
    Plot.gridY({ ticks: Y_TICKS, stroke: "#e2e2e2", strokeOpacity: 1 }),
    ...references.map((reference) => referenceShape(reference, groups)),
    Plot.barY(bars, { x, y: "value", fill: "fill", fillOpacity: 0.85, ...facet }),
    Plot.ruleX(withInterval, { x, y1: "lo", y2: "hi", stroke: "#222222", strokeWidth: 1.5, ...facet }),
    Plot.tickY(withInterval, { x, y: "lo", ...cap }),
    Plot.tickY(withInterval, { x, y: "hi", ...cap }),
    Plot.ruleX(withPaper, { x, y1: "paperLow", y2: "paperHigh", strokeWidth: 2, ...beside }),
    Plot.dot(withPaper, { x, y: "paperLow", ...diamond }),
    Plot.dot(withPaper, { x, y: "paperHigh", ...diamond }),
    Plot.ruleY([0], { stroke: "#222222" }),
    valueAxis(
      figure.y,
      bars.map((bar) => bar.value),
    ),
    isGrouped
      ? Plot.axisFx({ anchor: "bottom", label: null, ...names })
      : Plot.axisX({ label: null, tickSize: 0, ...names }),
  ];
  return Plot.plot({
    ...shared,
    x: {
      ...(isGrouped ? { axis: null, domain: [...groups] } : { domain: order }),
      type: "band",
      paddingInner: PADDING.bars.inner,
      paddingOuter: PADDING.bars.outer,
    },
    fx: { domain: order, paddingInner: PADDING.panels.inner, paddingOuter: PADDING.panels.outer },
    y: valueScale(figure.y),
    marks,
  });
}

/** One suffix for a whole axis, by its largest value: 5k, 10k, 15k, and not 5000, 10k. */
function tickFormatFor(values: readonly number[]): (value: number) => string {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const [scale, suffix] =
    largest >= 1e9 ? [1e9, "G"] : largest >= 1e6 ? [1e6, "M"] : largest >= 1e4 ? [1e3, "k"] : [1, ""];
  return (value) => (value === 0 ? "0" : `${Number((value / scale).toPrecision(6))}${suffix}`.replace("-", "−"));
}

function heading(
  svg: SvgElement,
  document: DocumentLike,
  {
    title,
    subtitle,
    legend,
  }: { readonly title: string; readonly subtitle: readonly string[]; readonly legend: Legend },
): void {
  const add = (name: string, attributes: Record<string, string | number>, content?: string) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    // Plot centres all text of its picture; headings begin at the left.
    if (name === "text") element.setAttribute("text-anchor", "start");
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (content !== undefined) element.textContent = content;
    svg.appendChild(element);
  };
  add("title", {}, title);
  let y = 28;
  add("text", { x: LEFT, y, "font-size": 17, "font-weight": 700, fill: "#111111" }, title);
  for (const [i, line] of subtitle.entries()) {
    y += TITLE_ROOM.subtitle + (i === 0 ? 2 : 0);
    add("text", { x: LEFT, y, "font-size": 13, fill: "#555555" }, line);
  }
  for (const { text, shape, colour, dash, x, row } of legend.items) {
    const base = y + (row + 1) * TITLE_ROOM.legend;
    const stroke = { stroke: colour, "stroke-dasharray": dash };
    const across = { x1: x, x2: x + 26 };
    if (shape === "bar") {
      add("rect", { x: x + 8, y: base - 11, width: 13, height: 13, fill: colour, "fill-opacity": 0.85 });
    } else if (shape === "range") {
      add("rect", { x, y: base - 10, width: 26, height: 12, fill: colour, "fill-opacity": 0.13 });
      for (const edge of [base - 10, base + 2])
        add("line", { ...across, y1: edge, y2: edge, ...stroke, "stroke-width": 1 });
    } else {
      const width = shape === "line" ? 2.5 : 1.5;
      add("line", { ...across, y1: base - 4, y2: base - 4, ...stroke, "stroke-width": width });
    }
    add("text", { x: x + 32, y: base, "font-size": 13, fill: "#222222" }, text);
  }
}
