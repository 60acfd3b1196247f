/**
 * What joins networks: columns side by side, and means over groups of rows, each with its way back.
 * Owns: copies between blocks of different widths. Plain TypeScript: they move few numbers, and no bits depend on it.
 * Not here: networks. An embedding joins an actor's input by `copyColumns`; a trajectory encoder's outputs become one
 * row per task by `meanOverGroups`.
 */

import type { Memory, Ptr } from "./memory.ts";
import { NULL } from "./memory.ts";

/** Some columns of a matrix. */
export interface Columns {
  readonly ptr: Ptr;
  /** Columns of the whole matrix. */
  readonly width: number;
  /** First column meant; 0 when absent. */
  readonly at?: number;
}

export interface ColumnCopy {
  readonly from: Columns;
  readonly into: Columns;
  readonly rows: number;
  /** Columns to copy. */
  readonly cols: number;
  /** Add instead of overwrite: the way back of a block that fed two places. */
  readonly add?: boolean;
}

/**
 * into[:, at … at+cols) = (or +=) from[:, at … at+cols). One call per part concatenates; the same call with the two
 * ends exchanged is its backward pass.
 */
export function copyColumns(memory: Memory, { from, into, rows, cols, add = false }: ColumnCopy): void {
  const f32 = memory.f32;
  let source = (from.ptr >> 2) + (from.at ?? 0);
  let target = (into.ptr >> 2) + (into.at ?? 0);
  for (let row = 0; row < rows; row++) {
    if (add) for (let i = 0; i < cols; i++) f32[target + i]! += f32[source + i]!;
    else for (let i = 0; i < cols; i++) f32[target + i] = f32[source + i]!;
    source += from.width;
    target += into.width;
  }
}

export interface RowRepeat {
  /** [cols]. */
  readonly row: Ptr;
  readonly into: Columns;
  readonly rows: number;
  readonly cols: number;
}

/** Puts one row into some columns of every row: a context that is the same for the whole batch. */
export function repeatRow(memory: Memory, { row, into, rows, cols }: RowRepeat): void {
  copyColumns(memory, { from: { ptr: row, width: 0 }, into, rows, cols });
}

/** The way back, with gradients in the places of the values: overwrites `row` with the sum over `into`'s rows. */
export function repeatRowBackward(memory: Memory, { row, into, rows, cols }: RowRepeat): void {
  memory.f32.fill(0, row >> 2, (row >> 2) + cols);
  copyColumns(memory, { from: into, into: { ptr: row, width: 0 }, rows, cols, add: true });
}

export interface GroupMean {
  /** [groups, size, cols]; with `strided` [size, groups, cols], which is how time-major sequences lie. */
  readonly from: Ptr;
  /** [groups, cols]. */
  readonly into: Ptr;
  readonly groups: number;
  readonly size: number;
  readonly cols: number;
  readonly strided?: boolean;
  /** 0 or 1 for each row of `from`, in its order: rows with 0 do not count. NULL or absent: all count. */
  readonly mask?: Ptr;
}

/** Mean of each group's rows; a group whose rows are all masked gives zeros. */
export function meanOverGroups(memory: Memory, options: GroupMean): void {
  const { from, into, groups, size, cols, strided = false, mask = NULL } = options;
  const f32 = memory.f32;
  for (let group = 0; group < groups; group++) {
    const target = (into >> 2) + group * cols;
    f32.fill(0, target, target + cols);
    const share = 1 / countedRows(f32, options, group);
    for (let member = 0; member < size; member++) {
      const row = strided ? member * groups + group : group * size + member;
      if (mask !== NULL && f32[(mask >> 2) + row] === 0) continue;
      const source = (from >> 2) + row * cols;
      for (let i = 0; i < cols; i++) f32[target + i]! += f32[source + i]! * share;
    }
  }
}

/**
 * The way back, with gradients in the places of the values: reads `into`, overwrites `from`. Each counted row receives
 * its share, a masked row 0.
 */
export function meanOverGroupsBackward(memory: Memory, options: GroupMean): void {
  const { from, into, groups, size, cols, strided = false, mask = NULL } = options;
  const f32 = memory.f32;
  for (let group = 0; group < groups; group++) {
    const source = (into >> 2) + group * cols;
    const share = 1 / countedRows(f32, options, group);
    for (let member = 0; member < size; member++) {
      const row = strided ? member * groups + group : group * size + member;
      const isMasked = mask !== NULL && f32[(mask >> 2) + row] === 0;
      const target = (from >> 2) + row * cols;
      for (let i = 0; i < cols; i++) f32[target + i] = isMasked ? 0 : f32[source + i]! * share;
    }
  }
}

function countedRows(
  f32: Float32Array,
  { groups, size, strided = false, mask = NULL }: GroupMean,
  group: number,
): number {
  if (mask === NULL) return size;
  let counted = 0;
  for (let member = 0; member < size; member++) {
    const row = strided ? member * groups + group : group * size + member;
    if (f32[(mask >> 2) + row] !== 0) counted += 1;
  }
  return counted;
}
