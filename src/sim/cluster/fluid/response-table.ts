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
import { LOAD_LEVELS, POD_LEVELS, QUOTA_RATIO, SPEED_RATIO, TABLE_SEED } from "./calibration.ts";
import { CELL_SIZE, nominalCapacity, PLACE, runCell } from "./cell.ts";

export interface TableOptions {
  /** Speed of the processor, and the cores that a pod's threads can run on. */
  readonly speed: number;
  readonly cores: number;
}

const LEVELS = LOAD_LEVELS.length;
const LOG_QUOTA = Math.log(QUOTA_RATIO);
const LOG_SPEED = Math.log(SPEED_RATIO);
// Room for indices of either sign in one whole number.
const STRIDE = 256;
const MIDDLE = STRIDE / 2;
/** Closer to a grid point than this is on it: saves half of the corners. */
const SNAP = 0.03;

export class ResponseTable {
  readonly application: Application;
  readonly #options: TableOptions;
  readonly #cells = new Map<number, Float64Array>();

  constructor(application: Application, options: TableOptions) {
    this.application = application;
    this.#options = options;
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
    const speed = ((column - pods) / STRIDE) % STRIDE;
    const quota = Math.floor(column / STRIDE / STRIDE);
    const { speed: base, cores } = this.#options;
    return runCell(
      {
        application: this.application,
        quota: QUOTA_RATIO ** (quota - MIDDLE),
        speed: base * SPEED_RATIO ** (speed - MIDDLE),
        cores,
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
  readonly #columns = new Float64Array(8);
  readonly #weights = new Float64Array(8);
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
    this.#surround(
      split(Math.log(quota) / LOG_QUOTA),
      split(Math.log(speed / table.speed) / LOG_SPEED),
      podsPlace(pods),
    );
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
      const cell = table.cell(this.#columns[c]! + level);
      const weight = this.#weights[c]!;
      for (let i = 0; i < CELL_SIZE; i++) blend[i]! += weight * cell[i]!;
    }
    this.#blendedAt[level] = this.version;
    return blend;
  }

  /** Each place on an axis is the grid point below and how far it is to the next. */
  #surround(quota: number, speed: number, pods: number): void {
    this.#count = 0;
    const [lowQuota, lowSpeed, lowPods] = [Math.floor(quota), Math.floor(speed), Math.floor(pods)];
    for (let corner = 0; corner < 8; corner++) {
      const [onQuota, onSpeed, onPods] = [corner & 1, (corner >> 1) & 1, corner >> 2];
      const weight = side(quota - lowQuota, onQuota) * side(speed - lowSpeed, onSpeed) * side(pods - lowPods, onPods);
      if (weight === 0) continue;
      const place = (lowQuota + onQuota + MIDDLE) * STRIDE + lowSpeed + onSpeed + MIDDLE;
      this.#columns[this.#count] = (place * STRIDE + lowPods + onPods) * LEVELS;
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
