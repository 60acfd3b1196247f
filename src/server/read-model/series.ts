/**
 * One workload's measurements over time, in memory that never grows: every step for the recent past, and coarser the
 * longer ago.
 * Owns: the tiers (each point of one is eight of the tier below), how points are merged, telling a span thinned to a number
 * of points, as JSON. Not here: documents and workloads (read-model.ts).
 *
 * Merging keeps what a reader must not miss: the worst latency and the worst preservation of the stretch; the last
 * setting; the mean of the rest. The time of a merged point is that of its last step.
 *
 * A page of charts is twelve thousand numbers, most of which it was told a moment ago: points that cannot change any more
 * are kept as text, a block of them at a time, so that reading again costs what is new.
 */
import {
  type KnobDocument,
  type Sample,
  type SeriesColumn,
  seriesColumns,
  type UseDocument,
} from "../../contract/index.ts";

export const TIERS = 4;
export const FOLD = 8;
/** Points of a page that are kept as one text. */
const BLOCK = 32;
/** Texts kept of one series: those of a page of a thousand points, and then some for who looks closer. */
const MOST_BLOCKS = 40;

type Merge = "mean" | "last" | "highest" | "lowest";

/** One column: how its points are merged, and the decimals that are told of it. */
interface Column {
  readonly name: string;
  readonly merge: Merge;
  /** Finer than any screen shows, and a third of the bytes that all digits would take. */
  readonly decimals: number;
  readonly valueIn: (sample: Sample) => number | null;
}

const FIXED: { readonly [name in SeriesColumn]: Omit<Column, "name"> } = {
  load: { merge: "mean", decimals: 3, valueIn: (sample) => sample.load },
  latency: { merge: "highest", decimals: 3, valueIn: (sample) => sample.latency },
  // As latency, beside which it is drawn.
  expected: { merge: "highest", decimals: 3, valueIn: (sample) => sample.expected },
  preservation: { merge: "lowest", decimals: 4, valueIn: (sample) => sample.preservation },
  reward: { merge: "mean", decimals: 4, valueIn: (sample) => sample.reward },
  cost: { merge: "mean", decimals: 8, valueIn: (sample) => sample.cost },
};

const knobColumn = (knob: string): Column => ({
  name: knob,
  merge: "last",
  decimals: 3,
  valueIn: (sample) => sample.have[knob] ?? null,
});

const useColumn = (knob: string): Column => ({
  name: `${knob}Use`,
  merge: "mean",
  decimals: 4,
  valueIn: (sample) => sample.use[knob] ?? null,
});

/** Two columns of one name could not be told apart. */
export function hasDistinctColumns(knobs: readonly KnobDocument[]): boolean {
  const names = [...seriesColumns, ...knobs.flatMap(({ name }) => [name, `${name}Use`])];
  return new Set(names).size === names.length;
}

/** A row: the time, then the columns, then the twin's. What was not measured is NaN. */
interface Layout {
  readonly columns: readonly Column[];
  readonly width: number;
  /** Of every column, then of every one of the twin's. */
  readonly merges: readonly Merge[];
  readonly scales: readonly number[];
}

const widthOf = (columns: number): number => 1 + 2 * columns;

/** Columns for use are those of the knobs that the use was measured of. */
function layoutOf(knobs: readonly KnobDocument[], use: UseDocument): Layout {
  const columns = [
    ...seriesColumns.map((name) => ({ name, ...FIXED[name] })),
    ...knobs.map(({ name }) => knobColumn(name)),
    ...knobs.filter(({ name }) => use[name] !== undefined).map(({ name }) => useColumn(name)),
  ];
  const both = [...columns, ...columns];
  return {
    columns,
    width: widthOf(columns.length),
    merges: both.map(({ merge }) => merge),
    scales: both.map(({ decimals }) => 10 ** decimals),
  };
}

/** What is the worse the lower it is, is never told as better than it was: a promise that was just missed stays missed. */
function told({ merges, scales }: Layout, index: number, value: number): string {
  if (!Number.isFinite(value)) return "null";
  if (index === 0) return `${value}`;
  const scale = scales[index - 1] as number;
  return `${(merges[index - 1] === "lowest" ? Math.floor(value * scale) : Math.round(value * scale)) / scale}`;
}

interface Tier {
  readonly rows: Float64Array;
  /** Points ever written; the ring holds the newest of them. */
  count: number;
  /** The point that is being gathered for the next tier. */
  readonly gathered: Gathered;
}

export interface SpanQuery {
  readonly from: number | null;
  readonly to: number | null;
  readonly points: number;
}

export interface Series {
  /** False when it is not newer than the last one, which would make the axis run backwards. */
  add(sample: Sample, twin: Sample | null): boolean;
  /** The fields `at`, `columns` and `twin` of a SeriesDocument, as JSON without the braces around them. */
  tell(query: SpanQuery): string;
}

/** Where one block at a time has its rows, for all series of a model: whoever reads copies at once. */
export interface RowBuffer {
  readonly rows: Float64Array;
}

/** With room for a series of so many knobs, all of them with their use. */
export const createRowBuffer = (mostKnobs: number): RowBuffer => ({
  rows: new Float64Array(BLOCK * widthOf(seriesColumns.length + 2 * mostKnobs)),
});

export interface SeriesOptions {
  readonly capacity: number;
  readonly buffer: RowBuffer;
  readonly knobs: readonly KnobDocument[];
  /** As the first sample has it: which of the knobs have their use measured. */
  readonly use: UseDocument;
}

export function createSeries({ capacity, buffer, knobs, use }: SeriesOptions): Series {
  const layout = layoutOf(knobs, use);
  const { columns, width } = layout;
  const tiers: Tier[] = Array.from({ length: TIERS }, () => ({
    rows: new Float64Array(capacity * width),
    count: 0,
    gathered: createGathered(layout),
  }));
  const row = new Float64Array(width);
  const kept = new Map<string, BlockTexts>();
  let lastAt = Number.NEGATIVE_INFINITY;
  let hasTwin = false;

  const push = (level: number, values: Float64Array): void => {
    const tier = tiers[level];
    if (tier === undefined) return;
    tier.rows.set(values, (tier.count % capacity) * width);
    tier.count += 1;
    tier.gathered.add(values, 0);
    if (tier.gathered.size === FOLD) push(level + 1, tier.gathered.take());
  };

  return {
    add(sample, twin) {
      if (!(sample.at > lastAt)) return false;
      lastAt = sample.at;
      hasTwin ||= twin !== null;
      row[0] = sample.at;
      columns.forEach(({ valueIn }, column) => {
        row[1 + column] = valueIn(sample) ?? Number.NaN;
        row[1 + columns.length + column] = twin === null ? Number.NaN : (valueIn(twin) ?? Number.NaN);
      });
      push(0, row);
      return true;
    },

    tell({ from, to, points }) {
      const asked = { layout, capacity, from: from ?? Number.NEGATIVE_INFINITY, to: to ?? lastAt, points };
      const blocks = tellStretch(chooseStretch(tiers, asked), { layout, capacity, kept, buffer });
      const column = (index: number): string => `[${blocks.map((texts) => texts[index]).join(",")}]`;
      const side = (offset: number): string =>
        `{${columns.map(({ name }, index) => `${JSON.stringify(name)}:${column(offset + index)}`).join(",")}}`;
      return `"at":${column(0)},"columns":${side(1)},"twin":${hasTwin ? side(1 + columns.length) : "null"}`;
    },
  };
}

/** The text of a block's points, by column; several are told one after another with a comma between them. */
type BlockTexts = readonly string[];

interface Span {
  readonly layout: Layout;
  readonly capacity: number;
  readonly from: number;
  readonly to: number;
  readonly points: number;
}

interface Stretch {
  readonly level: number;
  readonly tier: Tier;
  /** Of the tier's points, counted from the first one ever; without `end`. */
  readonly first: number;
  readonly end: number;
  /** Points that are told as one. */
  readonly group: number;
  /** What the finer tiers have not handed up yet, where it belongs to the span. */
  readonly tail: Float64Array | null;
}

/** From the finest tier that reaches back to `from`, thinned; its unfinished end is filled from the finer ones. */
function chooseStretch(tiers: readonly Tier[], { layout, capacity, from, to, points }: Span): Stretch {
  const timeOf = ({ rows }: Tier, index: number): number => rows[(index % capacity) * layout.width] as number;
  let level = 0;
  for (; level < tiers.length - 1; level += 1) {
    const tier = tiers[level] as Tier;
    const coarser = tiers[level + 1] as Tier;
    const oldest = timeOf(tier, Math.max(0, tier.count - capacity));
    if (tier.count <= capacity || oldest <= from || coarser.count === 0) break;
  }
  const tier = tiers[level] as Tier;
  // Times only rise, so what is asked for is one stretch.
  let first = Math.max(0, tier.count - capacity);
  while (first < tier.count && timeOf(tier, first) < from) first += 1;
  let end = tier.count;
  while (end > first && timeOf(tier, end - 1) > to) end -= 1;
  const unfinishedEnd = level === 0 ? null : unfinished(layout, tiers.slice(0, level));
  const endsAt = unfinishedEnd?.[0] ?? Number.NaN;
  const tail = endsAt >= from && endsAt <= to ? unfinishedEnd : null;
  const room = Math.max(1, tail === null ? points : points - 1);
  // Groups begin at multiples of a power of two, counted from the first point ever, so that a chart that is read again
  // and again keeps its old points where they were instead of shimmering.
  let group = 1;
  while (groupsIn({ first, end, group }) > room) group *= 2;
  return { level, tier, first, end, group, tail };
}

const groupsIn = ({ first, end, group }: { first: number; end: number; group: number }): number =>
  end <= first ? 0 : Math.floor((end - 1) / group) - Math.floor(first / group) + 1;

interface Telling {
  readonly layout: Layout;
  readonly capacity: number;
  readonly kept: Map<string, BlockTexts>;
  readonly buffer: RowBuffer;
}

/** Block by block, which begin at multiples of their size as groups do: one that lies inside is the same for ever. */
function tellStretch({ level, tier, first, end, group, tail }: Stretch, { layout, capacity, kept, buffer }: Telling) {
  const size = BLOCK * group;
  const blocks: BlockTexts[] = [];
  for (let block = Math.floor(first / size); block * size < end; block += 1) {
    const from = Math.max(first, block * size);
    const to = Math.min(end, (block + 1) * size);
    const tellIt = (): BlockTexts => {
      let count = 0;
      const gathered = createGathered(layout);
      for (let index = from; index < to; index += 1) {
        gathered.add(tier.rows, (index % capacity) * layout.width);
        if (index + 1 < to && (index + 1) % group !== 0) continue;
        gathered.takeInto(buffer.rows, count * layout.width);
        count += 1;
      }
      return textsOf(layout, buffer.rows, count);
    };
    blocks.push(to - from === size ? keep(kept, { key: `${level}/${group}/${block}`, make: tellIt }) : tellIt());
  }
  if (tail !== null) blocks.push(textsOf(layout, tail, 1));
  return blocks;
}

function keep(kept: Map<string, BlockTexts>, { key, make }: { key: string; make(): BlockTexts }): BlockTexts {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = make();
  kept.set(key, made);
  // The oldest goes: it is out of the ring, or of a zoom that nobody looks at any more.
  const [oldest] = kept.keys();
  if (kept.size > MOST_BLOCKS && oldest !== undefined) kept.delete(oldest);
  return made;
}

function textsOf(layout: Layout, rows: Float64Array, count: number): BlockTexts {
  const { width } = layout;
  return Array.from({ length: width }, (_, index) => {
    const values: string[] = [];
    for (let row = 0; row < count; row += 1) values.push(told(layout, index, rows[row * width + index] as number));
    return values.join(",");
  });
}

/** What the tiers below have gathered and not handed up yet, oldest first: the coarsest of them holds the oldest. */
function unfinished(layout: Layout, finer: readonly Tier[]): Float64Array | null {
  const all = createGathered(layout);
  for (const { gathered } of [...finer].reverse()) if (gathered.size > 0) all.add(gathered.peek(), 0);
  return all.size === 0 ? null : all.take();
}

interface Gathered {
  readonly size: number;
  /** The row that begins there. */
  add(rows: Float64Array, offset: number): void;
  peek(): Float64Array;
  /** The merged point; begins anew. */
  take(): Float64Array;
  takeInto(rows: Float64Array, offset: number): void;
}

function createGathered({ width, merges }: Layout): Gathered {
  const sums = new Float64Array(width);
  const known = new Uint32Array(width);
  let size = 0;
  const write = (rows: Float64Array, offset: number): void => {
    rows[offset] = sums[0] as number;
    for (let index = 1; index < width; index += 1) {
      const isMean = merges[index - 1] === "mean";
      const sum = sums[index] as number;
      const count = known[index] as number;
      rows[offset + index] = count === 0 ? Number.NaN : isMean ? sum / count : sum;
    }
  };
  const clear = (): void => {
    sums.fill(0);
    known.fill(0);
    size = 0;
  };
  const peek = (): Float64Array => {
    const values = new Float64Array(width);
    write(values, 0);
    return values;
  };
  return {
    get size() {
      return size;
    },
    add(rows, offset) {
      sums[0] = rows[offset] as number;
      for (let index = 1; index < width; index += 1) {
        const value = rows[offset + index] as number;
        if (Number.isNaN(value)) continue;
        sums[index] =
          known[index] === 0 ? value : merged(merges[index - 1] as Merge, { so: sums[index] as number, value });
        known[index] = (known[index] as number) + 1;
      }
      size += 1;
    },
    peek,
    take() {
      const values = peek();
      clear();
      return values;
    },
    takeInto(rows, offset) {
      write(rows, offset);
      clear();
    },
  };
}

function merged(merge: Merge, { so, value }: { so: number; value: number }): number {
  switch (merge) {
    case "mean":
      return so + value;
    case "last":
      return value;
    case "highest":
      return Math.max(so, value);
    case "lowest":
      return Math.min(so, value);
  }
}
