/**
 * One workload's measurements over time, in memory that never grows: every step for the recent past, and coarser the
 * longer ago.
 * Owns: the tiers (each point of one is eight of the tier below), how points are merged, telling a span thinned to a number
 * of points, as JSON. Not here: documents and workloads (read-model.ts).
 *
 * Merging keeps what a reader must not miss: the worst latency and the worst preservation of the stretch; the last
 * allocation; the mean of the rest. The time of a merged point is that of its last step.
 *
 * A page of charts is twelve thousand numbers, most of which it was told a moment ago: points that can not change any more
 * are kept as text, a block of them at a time, so that reading again costs what is new.
 */
import { type Sample, type SeriesColumn, seriesColumns } from "../plane-contract.ts";

export const TIERS = 4;
export const FOLD = 8;
/** Points of a page that are kept as one text. */
const BLOCK = 32;
/** Texts kept of one series: those of a page of a thousand points, and then some for who looks closer. */
const MOST_BLOCKS = 40;

type Merge = "mean" | "last" | "highest" | "lowest";

const MERGES: { readonly [name in SeriesColumn]: Merge } = {
  load: "mean",
  latency: "highest",
  preservation: "lowest",
  replicas: "last",
  cpu: "last",
  memory: "last",
  cpuUse: "mean",
  memoryUse: "mean",
  reward: "mean",
  cost: "mean",
};

/** Decimals that are told: finer than any screen shows, and a third of the bytes that all digits would take. */
const DECIMALS: { readonly [name in SeriesColumn]: number } = {
  load: 3,
  latency: 3,
  preservation: 4,
  replicas: 0,
  cpu: 3,
  memory: 3,
  cpuUse: 4,
  memoryUse: 4,
  reward: 4,
  cost: 8,
};

const VALUES: { readonly [name in SeriesColumn]: (sample: Sample) => number | null } = {
  load: (sample) => sample.load,
  latency: (sample) => sample.latency,
  preservation: (sample) => sample.preservation,
  replicas: (sample) => sample.have.replicas,
  cpu: (sample) => sample.have.cpu,
  memory: (sample) => sample.have.memory,
  cpuUse: (sample) => sample.use.cpu,
  memoryUse: (sample) => sample.use.memory,
  reward: (sample) => sample.reward,
  cost: (sample) => sample.cost,
};

// A row: the time, then the columns, then the twin's. What was not measured is NaN.
const COLUMNS = seriesColumns.length;
const WIDTH = 1 + 2 * COLUMNS;
const MERGE_OF: readonly Merge[] = [...seriesColumns, ...seriesColumns].map((name) => MERGES[name]);
const SCALE_OF: readonly number[] = [...seriesColumns, ...seriesColumns].map((name) => 10 ** DECIMALS[name]);

/** What is the worse the lower it is, is never told as better than it was: a promise that was just missed stays missed. */
function told(index: number, value: number): string {
  if (!Number.isFinite(value)) return "null";
  if (index === 0) return `${value}`;
  const scale = SCALE_OF[index - 1] as number;
  return `${(MERGE_OF[index - 1] === "lowest" ? Math.floor(value * scale) : Math.round(value * scale)) / scale}`;
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

export const createRowBuffer = (): RowBuffer => ({ rows: new Float64Array(BLOCK * WIDTH) });

export interface SeriesOptions {
  readonly capacity: number;
  readonly buffer: RowBuffer;
}

export function createSeries({ capacity, buffer }: SeriesOptions): Series {
  const tiers: Tier[] = Array.from({ length: TIERS }, () => ({
    rows: new Float64Array(capacity * WIDTH),
    count: 0,
    gathered: createGathered(),
  }));
  const row = new Float64Array(WIDTH);
  const kept = new Map<string, BlockTexts>();
  let lastAt = Number.NEGATIVE_INFINITY;
  let hasTwin = false;

  const push = (level: number, values: Float64Array): void => {
    const tier = tiers[level];
    if (tier === undefined) return;
    tier.rows.set(values, (tier.count % capacity) * WIDTH);
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
      seriesColumns.forEach((name, column) => {
        row[1 + column] = VALUES[name](sample) ?? Number.NaN;
        row[1 + COLUMNS + column] = twin === null ? Number.NaN : (VALUES[name](twin) ?? Number.NaN);
      });
      push(0, row);
      return true;
    },

    tell({ from, to, points }) {
      const asked = { capacity, from: from ?? Number.NEGATIVE_INFINITY, to: to ?? lastAt, points };
      const blocks = tellStretch(chooseStretch(tiers, asked), { capacity, kept, buffer });
      const column = (index: number): string => `[${blocks.map((texts) => texts[index]).join(",")}]`;
      const side = (offset: number): string =>
        `{${seriesColumns.map((name, index) => `"${name}":${column(offset + index)}`).join(",")}}`;
      return `"at":${column(0)},"columns":${side(1)},"twin":${hasTwin ? side(1 + COLUMNS) : "null"}`;
    },
  };
}

/** The text of a block's points, by column; several are told one after another with a comma between them. */
type BlockTexts = readonly string[];

interface Span {
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
function chooseStretch(tiers: readonly Tier[], { capacity, from, to, points }: Span): Stretch {
  const timeOf = ({ rows }: Tier, index: number): number => rows[(index % capacity) * WIDTH] as number;
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
  const unfinishedEnd = level === 0 ? null : unfinished(tiers.slice(0, level));
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
  readonly capacity: number;
  readonly kept: Map<string, BlockTexts>;
  readonly buffer: RowBuffer;
}

/** Block by block, which begin at multiples of their size as groups do: one that lies inside is the same for ever. */
function tellStretch({ level, tier, first, end, group, tail }: Stretch, { capacity, kept, buffer }: Telling) {
  const size = BLOCK * group;
  const blocks: BlockTexts[] = [];
  for (let block = Math.floor(first / size); block * size < end; block += 1) {
    const from = Math.max(first, block * size);
    const to = Math.min(end, (block + 1) * size);
    const tellIt = (): BlockTexts => {
      let count = 0;
      const gathered = createGathered();
      for (let index = from; index < to; index += 1) {
        gathered.add(tier.rows, (index % capacity) * WIDTH);
        if (index + 1 < to && (index + 1) % group !== 0) continue;
        gathered.takeInto(buffer.rows, count * WIDTH);
        count += 1;
      }
      return textsOf(buffer.rows, count);
    };
    blocks.push(to - from === size ? keep(kept, { key: `${level}/${group}/${block}`, make: tellIt }) : tellIt());
  }
  if (tail !== null) blocks.push(textsOf(tail, 1));
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

function textsOf(rows: Float64Array, count: number): BlockTexts {
  return Array.from({ length: WIDTH }, (_, index) => {
    const values: string[] = [];
    for (let row = 0; row < count; row += 1) values.push(told(index, rows[row * WIDTH + index] as number));
    return values.join(",");
  });
}

/** What the tiers below have gathered and not handed up yet, oldest first: the coarsest of them holds the oldest. */
function unfinished(finer: readonly Tier[]): Float64Array | null {
  const all = createGathered();
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

function createGathered(): Gathered {
  const sums = new Float64Array(WIDTH);
  const known = new Uint32Array(WIDTH);
  let size = 0;
  const write = (rows: Float64Array, offset: number): void => {
    rows[offset] = sums[0] as number;
    for (let index = 1; index < WIDTH; index += 1) {
      const isMean = MERGE_OF[index - 1] === "mean";
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
    const values = new Float64Array(WIDTH);
    write(values, 0);
    return values;
  };
  return {
    get size() {
      return size;
    },
    add(rows, offset) {
      sums[0] = rows[offset] as number;
      for (let index = 1; index < WIDTH; index += 1) {
        const value = rows[offset + index] as number;
        if (Number.isNaN(value)) continue;
        sums[index] =
          known[index] === 0 ? value : merged(MERGE_OF[index - 1] as Merge, { so: sums[index] as number, value });
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
