/**
 * How an application answers under any size, speed, number of pods and load: cells at grid points, and what lies between.
 * Owns: the grid, filling it on demand, interpolation. Not here: what a cell is (cell.ts), what a load does over time
 * (backlog.ts).
 *
 * A table depends on the application and the processor only: not on a world, a seed or a controller. It is filled as it
 * is looked at and kept, so a training that builds one world after the other pays for each cell once.
 */
import { seededRng } from "../../../base/index.ts";
import type { Application } from "../workloads/application.ts";
import { FULL, LOAD_LEVELS, POD_LEVELS, QUOTA_RATIO, TABLE_SEED } from "./calibration.ts";
import { CELL_SIZE, nominalCapacity, PLACE, runCell, runTimes, SLICES } from "./cell.ts";

export interface TableOptions {
  /** Speed of the processor, and the cores that a pod's threads can run on. */
  readonly speed: number;
  readonly cores: number;
}

const LEVELS = LOAD_LEVELS.length;
const FIRST_FULL = LOAD_LEVELS.findIndex((level) => level >= FULL);
const LOG_QUOTA = Math.log(QUOTA_RATIO);
// Room for indices of either sign in one whole number.
const STRIDE = 256;
const MIDDLE = STRIDE / 2;
/** Closer to a grid point than this is on it: saves half of the corners. */
const SNAP = 0.03;

export class ResponseTable {
  readonly application: Application;
  readonly #options: TableOptions;
  readonly #cells = new Map<number, Float64Array>();

  /** Milliseconds on the CPU of a request alone, unthrottled, at speed 1: the mean of each slice, and of all. */
  readonly runTimes: Float64Array;
  readonly meanRunTime: number;
  /** The sum of sizes in a full pod of the largest requests. */
  readonly mostSizes: number;

  constructor(application: Application, options: TableOptions) {
    this.application = application;
    this.#options = options;
    this.runTimes = runTimes(application, seededRng(TABLE_SEED).fork(application.id).fork("run times"));
    this.mostSizes = (application.threads + application.queue) * Math.max(...application.sizes);
    this.meanRunTime = application.phases.reduce((sum, { cpu, width }) => sum + cpu / width, 0);
  }

  /** Of the processor. */
  get speed(): number {
    return this.#options.speed;
  }

  /** Cells that have been run so far. */
  get filled(): number {
    return this.#cells.size;
  }

  /** Requests per second that a pod of this size could serve at best. */
  capacity(quota: number, speed: number): number {
    return nominalCapacity({ application: this.application, cores: this.#options.cores, quota, speed });
  }

  cell(key: number): Float64Array {
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = this.#run(key);
      this.#cells.set(key, cell);
    }
    return cell;
  }

  #run(key: number): Float64Array {
    const level = key % LEVELS;
    const column = (key - level) / LEVELS;
    const pods = column % STRIDE;
    const quota = Math.floor(column / STRIDE);
    return runCell(
      {
        application: this.application,
        quota: QUOTA_RATIO ** (quota - MIDDLE),
        ...this.#options,
        pods: POD_LEVELS[pods] as number,
        level: LOAD_LEVELS[level] as number,
      },
      seededRng(TABLE_SEED).fork(this.application.id).fork(key),
    );
  }
}

export interface PointConditions {
  /** CPU limit in cores. */
  readonly quota: number;
  readonly speed: number;
  readonly pods: number;
}

/**
 * A place in a table: the grid columns around it, and the cells blended of them, one per load level. Blends are kept
 * while the place stays the same, since most steps are like the one before them.
 */
export class ResponsePoint {
  /** Counts the places it has been at: what was computed at another is old. */
  version = 0;
  #table: ResponseTable | undefined;
  #quota = 0;
  #speed = 0;
  #pods = 0;
  #count = 0;
  /** Milliseconds more on the CPU per core-millisecond than at the table's speed. */
  #longer = 0;
  #capacity = 0;
  readonly #columns = new Float64Array(4);
  readonly #podsOf = new Float64Array(4);
  readonly #weights = new Float64Array(4);
  readonly #blends: Float64Array[] = [];
  readonly #blendedAt = new Int32Array(LEVELS);

  locate(table: ResponseTable, { quota, speed, pods }: PointConditions): void {
    // A difference that no latency shows is none.
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
    this.#surround(split(Math.log((quota * speed) / table.speed) / LOG_QUOTA), podsPlace(pods));
    this.#longer = 1 / speed - 1 / table.speed;
    this.#capacity = table.capacity(quota, speed);
  }

  /** Requests per second that a pod could serve at best. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Requests in a pod at a load level. */
  inside(level: number): number {
    return this.at(level)[PLACE.inside]!;
  }

  /** Requests that a pod takes in, as a share of the nominal capacity. */
  admitted(level: number): number {
    return this.at(level)[PLACE.admitted]!;
  }

  /** The whole cell at a load level. */
  at(level: number): Float64Array {
    if (this.#blendedAt[level] === this.version) return this.#blends[level]!;
    this.#blends[level] ??= new Float64Array(CELL_SIZE);
    const blend = this.#blends[level]!.fill(0);
    const table = this.#table as ResponseTable;
    for (let c = 0; c < this.#count; c++) {
      // In overload all pods are full, and choosing between them changes nothing: one stands for any number.
      const column = level >= FIRST_FULL ? this.#columns[c]! - this.#podsOf[c]! * LEVELS : this.#columns[c]!;
      const cell = table.cell(column + level);
      const weight = this.#weights[c]!;
      for (let i = 0; i < CELL_SIZE; i++) blend[i]! += weight * cell[i]!;
    }
    if (this.#longer !== 0) this.#lengthen(blend, level);
    this.#blendedAt[level] = this.version;
    return blend;
  }

  /** What another speed than the table's does to the time on the CPU, and by that to the number of requests inside. */
  #lengthen(blend: Float64Array, level: number): void {
    const { runTimes: times, meanRunTime } = this.#table as ResponseTable;
    for (let i = 0; i < times.length; i++) {
      const latency = blend[SLICES + i]!;
      // Faster than the table's, a request can save no more than most of its time.
      blend[SLICES + i] = Math.max(0.1 * latency, latency + this.#longer * times[i]!);
    }
    const more = ((this.#capacity * LOAD_LEVELS[level]!) / 1_000) * this.#longer * meanRunTime;
    const inside = blend[PLACE.inside]!;
    // In a full pod there is no room for more.
    if (LOAD_LEVELS[level]! > 1 || inside === 0) return;
    const factor = Math.max(0.1, 1 + more / inside);
    blend[PLACE.inside] = inside * factor;
    blend[PLACE.sizes]! *= factor;
  }

  /** A place on an axis is the grid point below it and how far it is to the next. */
  #surround(quota: number, pods: number): void {
    this.#count = 0;
    const [lowQuota, lowPods] = [Math.floor(quota), Math.floor(pods)];
    for (let corner = 0; corner < 4; corner++) {
      const [onQuota, onPods] = [corner & 1, corner >> 1];
      const weight = side(quota - lowQuota, onQuota) * side(pods - lowPods, onPods);
      if (weight === 0) continue;
      this.#columns[this.#count] = ((lowQuota + onQuota + MIDDLE) * STRIDE + lowPods + onPods) * LEVELS;
      this.#podsOf[this.#count] = lowPods + onPods;
      this.#weights[this.#count++] = weight;
    }
  }
}

/** Relative difference of speeds that counts as none. */
const SAME_SPEED = 0.004;

const side = (part: number, upper: number): number => (upper === 1 ? part : 1 - part);

/** A place near a grid point is on it. */
function split(place: number): number {
  const nearest = Math.round(place);
  return Math.abs(place - nearest) < SNAP ? nearest : place;
}

/** Between pod counts by their logarithm: from one pod to two changes more than from seven to eight. */
function podsPlace(pods: number): number {
  const last = POD_LEVELS.length - 1;
  let low = 0;
  while (low < last && (POD_LEVELS[low + 1] as number) <= pods) low++;
  const from = POD_LEVELS[low] as number;
  if (low === last || pods <= from) return low;
  return low + Math.log(pods / from) / Math.log((POD_LEVELS[low + 1] as number) / from);
}

const KEPT_TABLES = 256;
const kept = new Map<string, ResponseTable>();

/** The table of an application on a processor. Tables are a pure function's memory, so all worlds share them. */
export function responseTable(application: Application, options: TableOptions): ResponseTable {
  const key = `${options.speed} ${options.cores} ${JSON.stringify(application)}`;
  let table = kept.get(key);
  if (table === undefined) table = new ResponseTable(application, options);
  // Last used, last forgotten.
  kept.delete(key);
  kept.set(key, table);
  if (kept.size > KEPT_TABLES) kept.delete(kept.keys().next().value as string);
  return table;
}
