/**
 * Curves in a terminal: braille characters, two dots wide and four high each, with axes and a frame of labels.
 * Pure text: the caller decides where it goes and when it is drawn again.
 */

import { BrailleCanvas } from "./braille-canvas.ts";

export interface TerminalPlotOptions {
  /** Whole width and height in characters, labels included. */
  readonly columns: number;
  readonly rows: number;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Ends of the axes; what is not given comes from the data. */
  readonly xDomain?: readonly [number, number];
  readonly yDomain?: readonly [number, number];
  /** A dashed level, such as the score that counts as solved. */
  readonly reference?: { readonly y: number; readonly label: string };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export function terminalPlot(points: readonly Point[], options: TerminalPlotOptions): string {
  const { rows, columns } = options;
  const finite = points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  const [yLow, yHigh] = options.yDomain ?? span(finite.map((point) => point.y));
  const [xLow, xHigh] = options.xDomain ?? span(finite.map((point) => point.x));
  const labels = [yHigh, (yLow + yHigh) / 2, yLow].map(shortNumber);
  const gutter = Math.max(...labels.map((label) => label.length)) + 1;
  const width = Math.max(10, columns - gutter - 2);
  const height = Math.max(3, rows - 3);
  const canvas = new BrailleCanvas(width, height);
  const across = (x: number) => ((x - xLow) / (xHigh - xLow || 1)) * (width * 2 - 1);
  const down = (y: number) => (1 - (y - yLow) / (yHigh - yLow || 1)) * (height * 4 - 1);
  if (options.reference) canvas.dashed(down(options.reference.y));
  for (let i = 0; i < finite.length; i++) {
    const to = finite[i] as Point;
    const from = finite[i - 1] ?? to;
    canvas.line([across(from.x), down(from.y)], [across(to.x), down(to.y)]);
  }
  const lines = canvas.lines().map((line, row) => {
    const label = row === 0 ? labels[0] : row === height >> 1 ? labels[1] : row === height - 1 ? labels[2] : "";
    return `${(label ?? "").padStart(gutter)} │${line}`;
  });
  const right = `${shortNumber(xHigh)} ${options.xLabel}`;
  const left = shortNumber(xLow);
  const head = options.reference ? `${options.yLabel}   (┄ ${options.reference.label})` : options.yLabel;
  return [
    `${" ".repeat(gutter)} ${head}`.slice(0, columns),
    ...lines,
    `${" ".repeat(gutter)} └${"─".repeat(width)}`,
    `${" ".repeat(gutter + 2)}${left}${right.padStart(Math.max(0, width - left.length))}`,
  ].join("\n");
}

function span(values: readonly number[]): readonly [number, number] {
  if (values.length === 0) return [0, 1];
  let low = values[0] as number;
  let high = low;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

export function shortNumber(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (magnitude >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return `${Number(value.toPrecision(4))}`;
}
