/**
 * What each allocation has brought so far, as a table: what TL+ knows about a workload's sensitivity (AWARE, section 5.2).
 * Owns: its cells, what is counted in them, and the table as features. Not here: what is needed (../demand.ts).
 *
 * Allocations are told apart by how many times the need they are, so that a cell means the same at every load and for
 * every workload: a table in millicores would have to be filled again with each.
 */

/** Plain data: it is saved with an agent. One entry per cell, CPU by CPU. */
export interface TableMemory {
  readonly count: readonly number[];
  /** Sums of SLO preservation, and of use over limit, the mean of CPU and memory. */
  readonly preservation: readonly number[];
  readonly use: readonly number[];
}

/** Where a cell ends and the next begins, in times the need. */
const cpuEnds = [1.25, 2, 4] as const;
const memoryEnds = [1.25, 2] as const;
const columns = memoryEnds.length + 1;
const cells = (cpuEnds.length + 1) * columns;

const zeros: readonly number[] = Object.freeze(new Array<number>(cells).fill(0));
export const noTable: TableMemory = Object.freeze({ count: zeros, preservation: zeros, use: zeros });

export interface Experience {
  /** Granted over needed: CPU of all pods that are ready, memory of one pod. */
  readonly cpuTimes: number;
  readonly memoryTimes: number;
  /** 0 to 1. */
  readonly preservation: number;
  readonly cpu: number;
  readonly memory: number;
}

export function tableAfter(table: TableMemory, seen: Experience): TableMemory {
  const cell = placeAmong(cpuEnds, seen.cpuTimes) * columns + placeAmong(memoryEnds, seen.memoryTimes);
  const added = (sums: readonly number[], by: number) => sums.map((sum, at) => (at === cell ? sum + by : sum));
  return {
    count: added(table.count, 1),
    preservation: added(table.preservation, seen.preservation),
    use: added(table.use, (seen.cpu + seen.memory) / 2),
  };
}

const placeAmong = (ends: readonly number[], value: number): number => ends.filter((end) => value >= end).length;

export const tableFeatureNames: readonly `table-${string}`[] = Array.from({ length: cells }, (_, cell) => {
  const place = `${Math.floor(cell / columns)}-${cell % columns}`;
  return [`table-preservation-${place}`, `table-use-${place}`] as const;
}).flat();

/** Means of the cells, from 0…1 to -1…1; 0 where an allocation was never seen. */
export function tableFeatures({ count, preservation, use }: TableMemory): readonly number[] {
  return count.flatMap((times, cell) =>
    times === 0 ? [0, 0] : [preservation, use].map((sums) => (2 * (sums[cell] ?? 0)) / times - 1),
  );
}
