/**
 * What is drawn on a chart's canvas besides its lines: values that the lines are held against, peaks that the scale cuts
 * off, shaded times. Not here: axes and lines (plot.tsx).
 */
import type uPlot from "uplot";
import { colour } from "../theme.ts";

export type Colour = `--${string}`;

/** A value on the y axis that the lines are held against. */
export interface Mark {
  readonly value: number;
  readonly colour: Colour;
  readonly label: string;
}

/** Labels of lines nearer than this are written into one. */
const LABEL_HEIGHT = 14;

export function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio || 1;
  const placed = marks
    .map((mark) => ({ ...mark, y: Math.round(plot.valToPos(mark.value, "y", true)) }))
    .sort((a, b) => a.y - b.y);
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  let from = bbox.left + 4 * scale;
  placed.forEach((mark, index) => {
    ctx.strokeStyle = colour(mark.colour);
    ctx.fillStyle = colour(mark.colour);
    ctx.lineWidth = 1.25 * scale;
    ctx.setLineDash([5 * scale, 4 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, mark.y);
    ctx.lineTo(bbox.left + bbox.width, mark.y);
    ctx.stroke();
    const above = placed[index - 1];
    // Lines that lie close share a row of labels, one behind the other.
    const isClose = above !== undefined && mark.y - above.y < LABEL_HEIGHT * scale;
    if (!isClose) from = bbox.left + 4 * scale;
    const row = isClose ? (placed.find(({ y }) => mark.y - y < LABEL_HEIGHT * scale) ?? mark).y : mark.y;
    const isHigh = row - bbox.top < LABEL_HEIGHT * scale;
    ctx.textBaseline = isHigh ? "top" : "bottom";
    const at = isHigh ? row + 3 * scale : row - 2 * scale;
    // Lines run behind it.
    ctx.strokeStyle = colour("--card");
    ctx.lineWidth = 4 * scale;
    ctx.lineJoin = "round";
    ctx.setLineDash([]);
    ctx.strokeText(mark.label, from, at);
    ctx.fillText(mark.label, from, at);
    from += ctx.measureText(`${mark.label}  `).width + 8 * scale;
  });
  ctx.restore();
}

export interface Peaks {
  /** Its place among the plot's data: the last line that is not dashed. */
  readonly line: number;
  readonly say: (value: number) => string;
}

/** The highest value of every stretch of a line that runs over the top, written where it is. */
export function drawPeaks(plot: uPlot, { line, say }: Peaks): void {
  const { ctx, bbox } = plot;
  const top = plot.scales.y?.max;
  const times = plot.data[0];
  const values = line === 0 ? undefined : plot.data[line];
  if (top === undefined || values === undefined) return;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `600 ${10.5 * scale}px system-ui, sans-serif`;
  ctx.fillStyle = colour("--ours");
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  let free = bbox.left;
  for (const { index, value } of peaksAbove(values, top)) {
    const at = plot.valToPos(times[index] ?? 0, "x", true);
    const text = `↑ ${say(value)}`;
    const { width } = ctx.measureText(text);
    const left = Math.min(at + 4 * scale, bbox.left + bbox.width - width);
    // One that would be written over its neighbour is left out; the cursor reads it.
    if (left < free) continue;
    ctx.fillText(text, left, bbox.top + scale);
    free = left + width + 6 * scale;
  }
  ctx.restore();
}

export interface Peak {
  readonly index: number;
  readonly value: number;
}

export function peaksAbove(values: ArrayLike<number | null | undefined>, top: number): readonly Peak[] {
  const peaks: Peak[] = [];
  let peak: Peak | null = null;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null;
    if (value !== null && value > top) {
      if (peak === null || value > peak.value) peak = { index, value };
    } else if (peak !== null) {
      peaks.push(peak);
      peak = null;
    }
  }
  return peak === null ? peaks : [...peaks, peak];
}

export function drawShade(plot: uPlot, shaded: readonly boolean[]): void {
  if (!shaded.includes(true)) return;
  const { ctx, bbox } = plot;
  const times = plot.data[0];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = colour("--missed");
  shaded.forEach((isShaded, index) => {
    const to = times[index];
    if (!isShaded || to === undefined) return;
    // A measurement is of the step that ends with it.
    const from = plot.valToPos(times[index - 1] ?? to, "x", true);
    ctx.fillRect(from, bbox.top, Math.max(plot.valToPos(to, "x", true) - from, 1), bbox.height);
  });
  ctx.restore();
}

/** Something that happened at a time, as a line from top to bottom. */
export interface Moment {
  /** On the x axis. */
  readonly at: number;
  readonly label: string;
  /** Where the label would be written over another. */
  readonly short: string;
  readonly colour: Colour;
}

/** In their order in time. A label that does not fit before the next moment is shortened; one that is still too long is left out. */
export function drawMoments(plot: uPlot, moments: readonly Moment[]): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio || 1;
  const right = bbox.left + bbox.width;
  const seen = moments
    .map((moment) => ({ ...moment, x: Math.round(plot.valToPos(moment.at, "x", true)) }))
    .filter(({ x }) => x >= bbox.left && x <= right);
  ctx.save();
  ctx.font = `${10.5 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.setLineDash([3 * scale, 3 * scale]);
  let free = bbox.left;
  seen.forEach(({ x, label, short, colour: name }, index) => {
    ctx.strokeStyle = colour(name);
    ctx.fillStyle = colour(name);
    ctx.lineWidth = scale;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const left = x + 2 * scale;
    const room = (seen[index + 1]?.x ?? right) - left - 2 * scale;
    const text = [label, short].find((one) => ctx.measureText(one).width <= room);
    if (text === undefined || left < free) return;
    ctx.fillText(text, left, bbox.top + scale);
    free = left + ctx.measureText(text).width;
  });
  ctx.restore();
}
