/**
 * What a response table says between its grid points.
 * Owns: interpolation over CPU limits and pod counts, and what another speed than the table's does.
 * Not here: the cells (response-table.ts), what lies between two load levels (pod-group.ts).
 *
 * A place is looked at by parts: following a load needs two figures of a few levels, and only the levels that the load
 * was near are asked for their latencies. So each part is blended when it is first asked for, and kept while the place
 * stays the same, since most steps are like the one before them.
 */
import { LOAD_LEVELS, POD_LEVELS, QUOTA_RATIO, SLICE_ENDS } from "./calibration.ts";
import { CROSSING_COUNT, CROSSINGS, PLACE } from "./cell.ts";
import { type ResponseTable, TableColumn } from "./response-table.ts";

const LEVELS = LOAD_LEVELS.length;
const SLICE_COUNT = SLICE_ENDS.length;
/** They come first in a cell, the crossings after them. */
const FIGURE_COUNT = CROSSINGS;
const LOG_QUOTA = Math.log(QUOTA_RATIO);
/** Closer to a grid point than this is on it: saves half of the corners. */
const SNAP = 0.03;
/** Relative difference of speeds that counts as none: no latency would show it. */
const SAME_SPEED = 0.004;

export interface PointConditions {
  /** CPU limit in cores. */
  readonly quota: number;
  readonly speed: number;
  readonly pods: number;
}

/** A grid point next to the place. */
interface Corner {
  column: TableColumn;
  quota: number;
  pods: number;
  weight: number;
}

const nowhere = new TableColumn();

export class ResponsePoint {
  /** Counts the places it has been at: what was computed at another is old. */
  version = 0;
  #table: ResponseTable | undefined;
  #quota = 0;
  #speed = 0;
  #pods = 0;
  /** Milliseconds more on the CPU per core-millisecond than at the table's speed. */
  #longer = 0;
  #capacity = 0;
  readonly #corners: Corner[] = Array.from({ length: 4 }, () => ({ column: nowhere, quota: 0, pods: 0, weight: 0 }));
  #count = 0;
  // By load level, with the version of each: figures, in the places of a cell, and latencies.
  readonly figures = new Float64Array(LEVELS * FIGURE_COUNT);
  readonly #figuresAt = new Int32Array(LEVELS);
  readonly #latencies: (Float64Array | undefined)[] = Array.from<undefined>({ length: LEVELS }).fill(undefined);
  readonly #latenciesAt = new Int32Array(LEVELS);
  readonly #longest = new Float64Array(LEVELS);

  locate(table: ResponseTable, { quota, speed, pods }: PointConditions): void {
    const isSame =
      table === this.#table &&
      quota === this.#quota &&
      pods === this.#pods &&
      Math.abs(speed - this.#speed) < SAME_SPEED * speed;
    if (isSame) return;
    this.version++;
    this.#table = table;
    this.#quota = quota;
    this.#speed = speed;
    this.#pods = pods;
    // Twice as slow is, to the quota, twice the work, or half the quota. Only the time on the CPU itself is longer.
    this.#surround(table, split(Math.log((quota * speed) / table.speed) / LOG_QUOTA), podsPlace(pods));
    this.#longer = 1 / speed - 1 / table.speed;
    this.#capacity = table.capacity(quota, speed);
  }

  /** Requests per second that a pod could serve at best. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Requests in a pod at a load level. */
  inside(level: number): number {
    return this.figures[this.figuresAt(level) + PLACE.inside]!;
  }

  /** Requests that a pod takes in, as a share of the nominal capacity. */
  admitted(level: number): number {
    return this.figures[this.figuresAt(level) + PLACE.admitted]!;
  }

  /** Where a level's figures begin in `figures`; good until the next place. */
  figuresAt(level: number): number {
    if (this.#figuresAt[level] !== this.version) this.#blendFigures(level);
    return level * FIGURE_COUNT;
  }

  /** Logarithm of the rate at which a threshold of sizes is crossed. */
  crossing(level: number, threshold: number): number {
    let sum = 0;
    for (let c = 0; c < this.#count; c++) {
      const corner = this.#corners[c]!;
      sum += corner.weight * this.#columnOf(corner, level).crossings[level * CROSSING_COUNT + threshold]!;
    }
    return sum;
  }

  /** Latencies at a load level, slice by slice; good until the next place. */
  latencies(level: number): Float64Array {
    if (this.#latenciesAt[level] !== this.version) this.#blendLatencies(level);
    return this.#latencies[level]!;
  }

  /** The longest of them. */
  longest(level: number): number {
    if (this.#latenciesAt[level] !== this.version) this.#blendLatencies(level);
    return this.#longest[level]!;
  }

  /** With the level in it. */
  #columnOf({ column, quota, pods }: Corner, level: number): TableColumn {
    if (!column.has(level)) (this.#table as ResponseTable).fill(quota, pods, level);
    return column;
  }

  #blendFigures(level: number): void {
    const at = level * FIGURE_COUNT;
    let inside = 0;
    let sizes = 0;
    let admitted = 0;
    let busy = 0;
    for (let c = 0; c < this.#count; c++) {
      const corner = this.#corners[c]!;
      const { weight } = corner;
      const { figures } = this.#columnOf(corner, level);
      inside += weight * figures[at + PLACE.inside]!;
      sizes += weight * figures[at + PLACE.sizes]!;
      admitted += weight * figures[at + PLACE.admitted]!;
      busy += weight * figures[at + PLACE.busy]!;
    }
    const factor = this.#moreInside(level, inside);
    this.figures[at + PLACE.inside] = inside * factor;
    this.figures[at + PLACE.sizes] = sizes * factor;
    this.figures[at + PLACE.admitted] = admitted;
    this.figures[at + PLACE.busy] = busy;
    this.#figuresAt[level] = this.version;
  }

  /** By how much more requests are in a pod because each is longer on the CPU than at the table's speed. */
  #moreInside(level: number, inside: number): number {
    const load = LOAD_LEVELS[level]!;
    // In a full pod there is no room for more.
    if (this.#longer === 0 || load > 1 || inside === 0) return 1;
    const more = ((this.#capacity * load) / 1_000) * this.#longer * (this.#table as ResponseTable).meanRunTime;
    return Math.max(0.1, 1 + more / inside);
  }

  #blendLatencies(level: number): void {
    this.#latencies[level] ??= new Float64Array(SLICE_COUNT);
    const blend = this.#latencies[level]!;
    const at = level * SLICE_COUNT;
    const { latencies: first } = this.#columnOf(this.#corners[0]!, level);
    const firstWeight = this.#corners[0]!.weight;
    if (this.#count === 1) for (let i = 0; i < SLICE_COUNT; i++) blend[i] = firstWeight * first[at + i]!;
    // Most places lie between two limits and on a count of pods, or the other way round.
    if (this.#count >= 2) {
      const { latencies: second } = this.#columnOf(this.#corners[1]!, level);
      const secondWeight = this.#corners[1]!.weight;
      for (let i = 0; i < SLICE_COUNT; i++) blend[i] = firstWeight * first[at + i]! + secondWeight * second[at + i]!;
    }
    for (let c = 2; c < this.#count; c++) {
      const { latencies } = this.#columnOf(this.#corners[c]!, level);
      const { weight } = this.#corners[c]!;
      for (let i = 0; i < SLICE_COUNT; i++) blend[i]! += weight * latencies[at + i]!;
    }
    this.#longest[level] = this.#lengthen(blend);
    this.#latenciesAt[level] = this.version;
  }

  /** What another speed than the table's does to the time on the CPU; answers the longest latency. */
  #lengthen(blend: Float64Array): number {
    const { runTimes } = this.#table as ResponseTable;
    const longer = this.#longer;
    let longest = 0;
    for (let i = 0; i < SLICE_COUNT; i++) {
      const usual = blend[i]!;
      const changed = usual + longer * runTimes[i]!;
      // Faster than the table's, a request can save no more than most of its time.
      const latency = changed > 0.1 * usual ? changed : 0.1 * usual;
      blend[i] = latency;
      if (latency > longest) longest = latency;
    }
    return longest;
  }

  /** A place on an axis is the grid point below it and how far it is to the next. */
  #surround(table: ResponseTable, quota: number, pods: number): void {
    this.#count = 0;
    const lowQuota = Math.floor(quota);
    const lowPods = Math.floor(pods);
    for (let side = 0; side < 4; side++) {
      const onQuota = side & 1;
      const onPods = side >> 1;
      const weight = share(quota - lowQuota, onQuota) * share(pods - lowPods, onPods);
      if (weight === 0) continue;
      const corner = this.#corners[this.#count++]!;
      corner.quota = lowQuota + onQuota;
      corner.pods = lowPods + onPods;
      corner.column = table.column(corner.quota, corner.pods);
      corner.weight = weight;
    }
  }
}

const share = (part: number, upper: number): number => (upper === 1 ? part : 1 - part);

/** A place near a grid point is on it. */
function split(place: number): number {
  const nearest = Math.round(place);
  return Math.abs(place - nearest) < SNAP ? nearest : place;
}

/** Between pod counts by their logarithm: from one pod to two changes more than from seven to eight. */
function podsPlace(pods: number): number {
  const last = POD_LEVELS.length - 1;
  let low = 0;
  while (low < last && POD_LEVELS[low + 1]! <= pods) low++;
  const from = POD_LEVELS[low]!;
  if (low === last || pods <= from) return low;
  return low + Math.log(pods / from) / Math.log(POD_LEVELS[low + 1]! / from);
}
