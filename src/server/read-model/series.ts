/**
 * One workload's measurements over time, in memory that never grows: every step for the recent past, and coarser the
 * longer ago.
 * Owns: the tiers (each point of one is eight of the tier below), how points are merged, reading a span thinned to a number
 * of points. Not here: documents and workloads (read-model.ts).
 *
 * Merging keeps what a reader must not miss: the worst latency and the worst preservation of the stretch; the last
 * allocation; the mean of the rest. The time of a merged point is that of its last step.
 */
import { type Sample, type SeriesColumn, type SeriesDocument, seriesColumns } from "../plane-contract.ts";

export const TIERS = 4;
export const FOLD = 8;

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
  read(query: SpanQuery): Omit<SeriesDocument, "workload">;
}

export function createSeries({ capacity }: { readonly capacity: number }): Series {
  const tiers: Tier[] = Array.from({ length: TIERS }, () => ({
    rows: new Float64Array(capacity * WIDTH),
    count: 0,
    gathered: createGathered(),
  }));
  const row = new Float64Array(WIDTH);
  let lastAt = Number.NEGATIVE_INFINITY;
  let hasTwin = false;

  const push = (level: number, values: Float64Array): void => {
    const tier = tiers[level];
    if (tier === undefined) return;
    tier.rows.set(values, (tier.count % capacity) * WIDTH);
    tier.count += 1;
    tier.gathered.add(values);
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

    read({ from, to, points }) {
      const rows = rowsOf(tiers, { capacity, from: from ?? Number.NEGATIVE_INFINITY, to: to ?? lastAt, points });
      const column = (index: number): (number | null)[] =>
        rows.map((values) => {
          const value = values[index] as number;
          return Number.isNaN(value) ? null : value;
        });
      const side = (offset: number): SeriesDocument["columns"] =>
        Object.fromEntries(seriesColumns.map((name, index) => [name, column(offset + index)])) as {
          [name in SeriesColumn]: (number | null)[];
        };
      return {
        at: rows.map((values) => values[0] as number),
        columns: side(1),
        twin: hasTwin ? side(1 + COLUMNS) : null,
      };
    },
  };
}

/** The finest tier that reaches back to `from`, thinned; its unfinished end is filled from the finer ones. */
function rowsOf(
  tiers: readonly Tier[],
  { capacity, from, to, points }: { capacity: number; from: number; to: number; points: number },
): Float64Array[] {
  const oldestAt = ({ rows, count }: Tier): number =>
    rows[(Math.max(0, count - capacity) % capacity) * WIDTH] as number;
  let level = 0;
  for (; level < tiers.length - 1; level += 1) {
    const tier = tiers[level] as Tier;
    const coarser = tiers[level + 1] as Tier;
    if (tier.count <= capacity || oldestAt(tier) <= from || coarser.count === 0) break;
  }
  const tier = tiers[level] as Tier;
  const first = Math.max(0, tier.count - capacity);
  const chosen: number[] = [];
  for (let index = first; index < tier.count; index += 1) {
    const at = tier.rows[(index % capacity) * WIDTH] as number;
    if (at >= from && at <= to) chosen.push(index);
  }
  const tail = level === 0 ? null : unfinished(tiers.slice(0, level));
  const withTail = tail !== null && (tail[0] as number) >= from && (tail[0] as number) <= to;
  const room = Math.max(1, withTail ? points - 1 : points);
  // Groups begin at multiples of a power of two, counted from the first point ever, so that a chart that is read again
  // and again keeps its old points where they were instead of shimmering.
  let group = 1;
  while (groupsIn(chosen, group) > room) group *= 2;

  const thinned: Float64Array[] = [];
  const gathered = createGathered();
  chosen.forEach((index, position) => {
    gathered.add(tier.rows.subarray((index % capacity) * WIDTH, (index % capacity) * WIDTH + WIDTH));
    const next = chosen[position + 1];
    if (next === undefined || Math.floor(next / group) !== Math.floor(index / group)) thinned.push(gathered.take());
  });
  if (withTail) thinned.push(tail);
  return thinned.slice(-points);
}

const groupsIn = (chosen: readonly number[], group: number): number =>
  chosen.length === 0 ? 0 : Math.floor((chosen.at(-1) ?? 0) / group) - Math.floor((chosen[0] ?? 0) / group) + 1;

/** What the tiers below have gathered and not handed up yet, oldest first: the coarsest of them holds the oldest. */
function unfinished(finer: readonly Tier[]): Float64Array | null {
  const all = createGathered();
  for (const { gathered } of [...finer].reverse()) if (gathered.size > 0) all.add(gathered.peek());
  return all.size === 0 ? null : all.take();
}

interface Gathered {
  readonly size: number;
  add(values: Float64Array): void;
  peek(): Float64Array;
  /** The merged point; begins anew. */
  take(): Float64Array;
}

function createGathered(): Gathered {
  const sums = new Float64Array(WIDTH);
  const known = new Uint32Array(WIDTH);
  let size = 0;
  const peek = (): Float64Array => {
    const values = new Float64Array(WIDTH);
    values[0] = sums[0] as number;
    for (let index = 1; index < WIDTH; index += 1) {
      const isMean = MERGE_OF[index - 1] === "mean";
      const sum = sums[index] as number;
      const count = known[index] as number;
      values[index] = count === 0 ? Number.NaN : isMean ? sum / count : sum;
    }
    return values;
  };
  return {
    get size() {
      return size;
    },
    add(values) {
      sums[0] = values[0] as number;
      for (let index = 1; index < WIDTH; index += 1) {
        const value = values[index] as number;
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
      sums.fill(0);
      known.fill(0);
      size = 0;
      return values;
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
