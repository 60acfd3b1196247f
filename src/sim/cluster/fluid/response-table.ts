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

  /** Cells that have been run so far. */
  get filled(): number {
    return this.#cells.size;
  }

  /** Requests per second that a pod of this size could serve at best. */
  capacity(quota: number, speed: number): number {
    return nominalCapacity({ application: this.application, cores: this.#options.cores, quota, speed });
  }

  /** Sets a point to a size (cores), a speed and a number of pods; it is then read at load levels. */
  locate(point: ResponsePoint, { quota, speed, pods }: { quota: number; speed: number; pods: number }): void {
    point.table = this;
    point.count = 0;
    const onQuota = split(Math.log(quota) / LOG_QUOTA);
    const onSpeed = split(Math.log(speed / this.#options.speed) / LOG_SPEED);
    const onPods = splitPods(pods);
    for (let corner = 0; corner < 8; corner++) {
      const weight = onQuota.weight(corner & 1) * onSpeed.weight((corner >> 1) & 1) * onPods.weight(corner >> 2);
      if (weight === 0) continue;
      const column =
        ((onQuota.low + (corner & 1) + MIDDLE) * STRIDE + onSpeed.low + ((corner >> 1) & 1) + MIDDLE) * STRIDE +
        onPods.low +
        (corner >> 2);
      point.columns[point.count] = column * LEVELS;
      point.weights[point.count++] = weight;
    }
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

/** A place in a table: the grid columns around it and their weights. Reused, so that a step allocates nothing. */
export class ResponsePoint {
  table: ResponseTable | undefined;
  count = 0;
  readonly columns = new Float64Array(8);
  readonly weights = new Float64Array(8);

  /** Requests in a pod at a load level. */
  inside(level: number): number {
    return this.#figure(level, PLACE.inside);
  }

  /** Requests that a pod takes in, as a share of the nominal capacity. */
  admitted(level: number): number {
    return this.#figure(level, PLACE.admitted);
  }

  /** Adds `share` of the whole cell at a load level. */
  add(level: number, share: number, into: Float64Array): void {
    const table = this.table as ResponseTable;
    for (let c = 0; c < this.count; c++) {
      const cell = table.cell(this.columns[c]! + level);
      const weight = this.weights[c]! * share;
      for (let i = 0; i < CELL_SIZE; i++) into[i]! += weight * cell[i]!;
    }
  }

  #figure(level: number, place: number): number {
    const table = this.table as ResponseTable;
    let sum = 0;
    for (let c = 0; c < this.count; c++) sum += this.weights[c]! * table.cell(this.columns[c]! + level)[place]!;
    return sum;
  }
}

interface Split {
  readonly low: number;
  /** Of the lower grid point (0) or the upper one (1). */
  weight(side: number): number;
}

function split(position: number): Split {
  const nearest = Math.round(position);
  if (Math.abs(position - nearest) < SNAP) return { low: nearest, weight: (side) => 1 - side };
  const low = Math.floor(position);
  return { low, weight: (side) => (side === 1 ? position - low : 1 - position + low) };
}

/** Between pod counts by their logarithm: from one pod to two changes more than from seven to eight. */
function splitPods(pods: number): Split {
  const last = POD_LEVELS.length - 1;
  let low = 0;
  while (low < last && (POD_LEVELS[low + 1] as number) <= pods) low++;
  const from = POD_LEVELS[low] as number;
  if (low === last || pods <= from) return { low, weight: (side) => 1 - side };
  const to = POD_LEVELS[low + 1] as number;
  const part = Math.log(pods / from) / Math.log(to / from);
  return { low, weight: (side) => (side === 1 ? part : 1 - part) };
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
