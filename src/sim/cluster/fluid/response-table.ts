/**
 * How an application answers under any size, speed, number of pods and load: cells at grid points.
 * Owns: the grid, filling it on demand, keeping it. Not here: what a cell is (cell.ts), what lies between grid points
 * (response-point.ts), what a load does over time (backlog.ts).
 *
 * A table depends on the application and the processor only: not on a world, a seed or a controller. It is filled as it
 * is looked at and kept, so a training that builds one world after the other pays for each cell once.
 */
import { seededRng } from "../../../base/index.ts";
import type { Application } from "../workloads/application.ts";
import { FULL, LOAD_LEVELS, POD_LEVELS, QUOTA_RATIO, SLICE_ENDS, TABLE_SEED } from "./calibration.ts";
import { CROSSING_COUNT, CROSSINGS, nominalCapacity, runCell, runTimes, SLICES } from "./cell.ts";
import { type CellName, cellNames, SharedCells } from "./shared-cells.ts";

export interface TableOptions {
  /** Speed of the processor, and the cores that a pod's threads can run on. */
  readonly speed: number;
  readonly cores: number;
}

/** Cells that other threads have run, and are told of those that are run here. */
export type CellsOfOthers = Pick<SharedCells, "find" | "add">;

const LEVELS = LOAD_LEVELS.length;
const SLICE_COUNT = SLICE_ENDS.length;
/** They come first in a cell, the crossings after them. */
const FIGURE_COUNT = CROSSINGS;
const FIRST_FULL = LOAD_LEVELS.findIndex((level) => level >= FULL);
// Room for indices of either sign in one whole number.
const STRIDE = 256;
const MIDDLE = STRIDE / 2;

/**
 * Cells of one CPU limit and number of pods, part by part: first those of the first load level, then of the next. A load is
 * followed from level to level, so what is asked for next lies beside what was asked for last.
 */
export class TableColumn {
  readonly figures = new Float64Array(LEVELS * FIGURE_COUNT).fill(Number.NaN);
  readonly crossings = new Float64Array(LEVELS * CROSSING_COUNT);
  readonly latencies = new Float64Array(LEVELS * SLICE_COUNT);

  /** Whether somebody has asked for a level: before that it is not made. */
  has(level: number): boolean {
    return !Number.isNaN(this.figures[level * FIGURE_COUNT]!);
  }

  set(level: number, cell: Float64Array): void {
    this.figures.set(cell.subarray(0, FIGURE_COUNT), level * FIGURE_COUNT);
    this.crossings.set(cell.subarray(CROSSINGS, SLICES), level * CROSSING_COUNT);
    this.latencies.set(cell.subarray(SLICES), level * SLICE_COUNT);
  }
}

export class ResponseTable {
  readonly application: Application;
  readonly #options: TableOptions;
  readonly #others: CellsOfOthers | undefined;
  readonly #nameOf: (cell: number) => CellName;
  readonly #columns = new Map<number, TableColumn>();
  #filled = 0;

  /** Milliseconds on the CPU of a request alone, unthrottled, at speed 1: the mean of each slice, and of all. */
  readonly runTimes: Float64Array;
  readonly meanRunTime: number;
  /** The sum of sizes in a full pod of the largest requests. */
  readonly mostSizes: number;

  constructor(application: Application, options: TableOptions, others?: CellsOfOthers) {
    this.application = application;
    this.#options = options;
    this.#others = others;
    this.#nameOf = cellNames(nameOf(application, options));
    this.runTimes = runTimes(application, seededRng(TABLE_SEED).fork(application.id).fork("run times"));
    this.mostSizes = (application.threads + application.queue) * Math.max(...application.sizes);
    this.meanRunTime = application.phases.reduce((sum, { cpu, width }) => sum + cpu / width, 0);
  }

  /** Of the processor. */
  get speed(): number {
    return this.#options.speed;
  }

  /** Cells that have been run here so far. */
  get filled(): number {
    return this.#filled;
  }

  /** Requests per second that a pod of this size could serve at best. */
  capacity(quota: number, speed: number): number {
    return nominalCapacity({ application: this.application, cores: this.#options.cores, quota, speed });
  }

  /**
   * Of a CPU limit, as a power of the ratio between two of them, and a place in the list of pod counts. Its cells are
   * made by `fill` when they are first asked for.
   */
  column(quota: number, pods: number): TableColumn {
    const key = columnKey(quota, pods);
    let column = this.#columns.get(key);
    if (column === undefined) {
      column = new TableColumn();
      this.#columns.set(key, column);
    }
    return column;
  }

  fill(quota: number, pods: number, level: number): void {
    // In overload all pods are full, and choosing between them changes nothing: one stands for any number.
    if (level < FIRST_FULL) this.column(quota, pods).set(level, this.#run(quota, pods, level));
    else {
      const cell = this.#run(quota, 0, level);
      for (let alike = 0; alike < POD_LEVELS.length; alike++) this.column(quota, alike).set(level, cell);
    }
  }

  #run(quota: number, pods: number, level: number): Float64Array {
    const number = columnKey(quota, pods) * LEVELS + level;
    const name = this.#nameOf(number);
    const found = this.#others?.find(name);
    if (found) return found;
    this.#filled++;
    const { speed, cores } = this.#options;
    const conditions = {
      quota: QUOTA_RATIO ** quota,
      speed,
      cores,
      pods: POD_LEVELS[pods]!,
      level: LOAD_LEVELS[level]!,
    };
    const rng = seededRng(TABLE_SEED).fork(this.application.id).fork(number);
    const cell = runCell({ application: this.application, ...conditions }, rng);
    this.#others?.add(name, cell);
    return cell;
  }
}

const columnKey = (quota: number, pods: number): number => (quota + MIDDLE) * STRIDE + pods;

const nameOf = (application: Application, { speed, cores }: TableOptions): string =>
  `${speed} ${cores} ${JSON.stringify(application)}`;

const KEPT_TABLES = 256;
const kept = new Map<string, ResponseTable>();
let shared: SharedCells | undefined;

/** From here on this thread runs no cell that another one with the same memory has run; see `cellMemory`. */
export function shareCells(memory: SharedArrayBuffer): void {
  shared = new SharedCells(memory);
}

/** The table of an application on a processor. Tables are a pure function's memory, so all worlds share them. */
export function responseTable(application: Application, options: TableOptions): ResponseTable {
  const name = nameOf(application, options);
  let table = kept.get(name);
  if (table === undefined) table = new ResponseTable(application, options, shared);
  // Last used, last forgotten.
  kept.delete(name);
  kept.set(name, table);
  if (kept.size > KEPT_TABLES) kept.delete(kept.keys().next().value as string);
  return table;
}
