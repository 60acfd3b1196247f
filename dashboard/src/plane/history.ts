/**
 * The measured past of one workload and its twin, as columns that a chart takes as they are.
 * Owns: the bound, the order in time, the meeting of stored and live samples. Pure.
 */
import type { Sample, SeriesColumn, SeriesDocument } from "../../../src/server/plane-contract.ts";
import { seriesColumns } from "../../../src/server/plane-contract.ts";

export type Columns = { readonly [name in SeriesColumn]: (number | null)[] };

/** Trimming moves everything kept, so it happens once per this many samples. */
const TRIM_EVERY = 128;

export class History {
  readonly capacity: number;
  /** Seconds, since that is what the charts count in. */
  at: number[] = [];
  ours: Columns = emptyColumns();
  twin: Columns = emptyColumns();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  push(sample: Sample, twin: Sample | null): void {
    const last = this.at.at(-1);
    // A stream that came back may repeat the newest sample; time never runs backwards on an axis.
    if (last !== undefined && sample.at / 1000 <= last) return;
    this.at.push(sample.at / 1000);
    append(this.ours, sample);
    append(this.twin, twin);
    if (this.at.length > this.capacity + TRIM_EVERY) this.#keep(this.capacity);
  }

  /** Puts a stored past before what was seen live. */
  prepend(series: SeriesDocument): void {
    const from = this.at[0] ?? Number.POSITIVE_INFINITY;
    const older = series.at.findIndex((at) => at / 1000 >= from);
    const count = older === -1 ? series.at.length : older;
    this.at = [...series.at.slice(0, count).map((at) => at / 1000), ...this.at];
    const twin = series.twin;
    for (const name of seriesColumns) {
      this.ours[name].unshift(...series.columns[name].slice(0, count));
      this.twin[name].unshift(...(twin === null ? nulls(count) : twin[name].slice(0, count)));
    }
    if (this.at.length > this.capacity) this.#keep(this.capacity);
  }

  clear(): void {
    this.#keep(0);
  }

  #keep(count: number): void {
    const drop = this.at.length - count;
    this.at.splice(0, drop);
    for (const name of seriesColumns) {
      this.ours[name].splice(0, drop);
      this.twin[name].splice(0, drop);
    }
  }
}

function emptyColumns(): Columns {
  return Object.fromEntries(seriesColumns.map((name) => [name, []])) as unknown as Columns;
}

const nulls = (count: number): null[] => new Array<null>(count).fill(null);

function append(columns: Columns, sample: Sample | null): void {
  columns.load.push(sample?.load ?? null);
  columns.latency.push(sample?.latency ?? null);
  columns.preservation.push(sample?.preservation ?? null);
  columns.replicas.push(sample?.have.replicas ?? null);
  columns.cpu.push(sample?.have.cpu ?? null);
  columns.memory.push(sample?.have.memory ?? null);
  columns.cpuUse.push(sample?.use.cpu ?? null);
  columns.memoryUse.push(sample?.use.memory ?? null);
  columns.reward.push(sample?.reward ?? null);
  columns.cost.push(sample?.cost ?? null);
}
