/**
 * The measured past of one workload and its twin, as columns that a chart takes as they are.
 * Owns: the bound, the order in time, the meeting of stored and live samples. Pure.
 */
import type { KnobDocument, Sample, SeriesColumn, SeriesDocument } from "../../../src/contract/index.ts";
import { seriesColumns } from "../../../src/contract/index.ts";

type Column = (number | null)[];
/** By what every workload has, by knob, and by the use of a knob: `<knob>Use`. */
export type Columns = { readonly [name in SeriesColumn]: Column } & { readonly [name: string]: Column };

/** Trimming moves everything kept, so it happens once per this many samples. */
const TRIM_EVERY = 128;

export class History {
  readonly capacity: number;
  /** Seconds, since that is what the charts count in. */
  at: number[] = [];
  ours: Columns;
  twin: Columns;
  #knobs: readonly string[];

  constructor(capacity: number, knobs: readonly KnobDocument[]) {
    this.capacity = capacity;
    this.#knobs = knobs.map(({ name }) => name);
    this.ours = emptyColumns(this.#knobs);
    this.twin = emptyColumns(this.#knobs);
  }

  /** With nothing in it yet, since the past has other columns. */
  begin(knobs: readonly KnobDocument[]): void {
    this.at = [];
    this.#knobs = knobs.map(({ name }) => name);
    this.ours = emptyColumns(this.#knobs);
    this.twin = emptyColumns(this.#knobs);
  }

  push(sample: Sample, twin: Sample | null): void {
    const last = this.at.at(-1);
    // A stream that came back may repeat the newest sample; time never runs backwards on an axis.
    if (last !== undefined && sample.at / 1000 <= last) return;
    this.at.push(sample.at / 1000);
    append(this.ours, sample, this.#knobs);
    append(this.twin, twin, this.#knobs);
    if (this.at.length > this.capacity + TRIM_EVERY) this.#keep(this.capacity);
  }

  /** Puts a stored past before what was seen live. */
  prepend(series: SeriesDocument): void {
    const from = this.at[0] ?? Number.POSITIVE_INFINITY;
    const older = series.at.findIndex((at) => at / 1000 >= from);
    const count = older === -1 ? series.at.length : older;
    this.at = [...series.at.slice(0, count).map((at) => at / 1000), ...this.at];
    const stored = { ours: series.columns, twin: series.twin };
    for (const side of ["ours", "twin"] as const)
      for (const [name, column] of Object.entries(this[side]))
        column.unshift(...(stored[side]?.[name]?.slice(0, count) ?? nulls(count)));
    if (this.at.length > this.capacity) this.#keep(this.capacity);
  }

  clear(): void {
    this.#keep(0);
  }

  #keep(count: number): void {
    const drop = this.at.length - count;
    this.at.splice(0, drop);
    for (const column of [...Object.values(this.ours), ...Object.values(this.twin)]) column.splice(0, drop);
  }
}

function emptyColumns(knobs: readonly string[]): Columns {
  const own: { [name: string]: Column } = {};
  for (const knob of knobs) {
    own[knob] = [];
    own[useOf(knob)] = [];
  }
  // What every workload has comes last, so that no knob can stand in for it.
  return { ...own, load: [], latency: [], expected: [], preservation: [], reward: [], cost: [] };
}

/** The column that has what is used of a knob. */
export const useOf = (knob: string): string => `${knob}Use`;

const nulls = (count: number): null[] => new Array<null>(count).fill(null);

function append(columns: Columns, sample: Sample | null, knobs: readonly string[]): void {
  for (const name of seriesColumns) columns[name].push(sample?.[name] ?? null);
  for (const knob of knobs) {
    columns[knob]?.push(sample?.have[knob] ?? null);
    columns[useOf(knob)]?.push(sample?.use[knob] ?? null);
  }
}
