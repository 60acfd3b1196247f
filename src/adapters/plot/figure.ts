/**
 * What a figure shows, as plain data: a study returns it, a worker can send it, a test can read it.
 * Not here: how it is drawn (svg.ts), or where the file goes (cli/studies).
 */

export interface Axis {
  readonly label: string;
  /** Shown after the label: "steps", "ms", "% of peak". */
  readonly unit?: string;
  readonly scale?: "linear" | "log";
  /** Both ends, when the data alone would pick misleading ones. */
  readonly domain?: readonly [number, number];
}

/** A level or a range that somebody else published, or a target. */
export interface ReferenceMark {
  readonly label: string;
  readonly low: number;
  /** Absent: a single level; present: a shaded range. */
  readonly high?: number;
  /** The line or the group of bars that it is to be compared with; it is then drawn in that colour. */
  readonly of?: string;
}

export interface Line {
  readonly name: string;
  /** Places that no line joins, as on a map. */
  readonly marks?: "points";
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** The interval around each point; both or neither, as long as `x`. */
  readonly lo?: readonly number[];
  readonly hi?: readonly number[];
}

export interface LineFigure {
  readonly kind: "lines";
  /** Part of the file name: lower-case letters, digits and dashes. */
  readonly id: string;
  readonly title: string;
  /** What the band is, how many seeds: the sentence under the title. */
  readonly subtitle?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  readonly references?: readonly ReferenceMark[];
}

export interface Bar {
  readonly label: string;
  /** Bars of one group stand side by side and share a place on the axis. */
  readonly group?: string;
  readonly value: number;
  readonly lo?: number;
  readonly hi?: number;
  /** What the paper reports for this very bar. */
  readonly paper?: { readonly low: number; readonly high: number };
}

export interface BarFigure {
  readonly kind: "bars";
  readonly id: string;
  readonly title: string;
  readonly subtitle?: string;
  readonly y: Axis;
  readonly bars: readonly Bar[];
  readonly references?: readonly ReferenceMark[];
}

export type Figure = LineFigure | BarFigure;
