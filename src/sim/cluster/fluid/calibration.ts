/**
 * Figures of the fluid rung, each with its reason. None of them describes the cluster: what the world is made of is in
 * spec.ts, processors.ts and workloads/, the same for both rungs. These say how finely the fluid rung looks at it.
 */

/** The longest stretch with one draw of arrivals: a control step, and the interval that dispersion is stated for. */
export const SLOT = 15_000;

/** Ends of the latency slices that a cell keeps, as shares of its requests: finer where tails are asked for. */
export const SLICE_ENDS: readonly number[] = [
  0.06, 0.13, 0.2, 0.27, 0.34, 0.41, 0.47, 0.53, 0.59, 0.66, 0.73, 0.8, 0.86, 0.9, 0.93, 0.95, 0.965, 0.975, 0.982,
  0.987, 0.991, 0.994, 0.9965, 0.998, 0.999, 1,
];

/** Load levels of a table, as shares of the nominal capacity; from `FULL` on a pod has more than it can do. */
export const LOAD_LEVELS: readonly number[] = [0, 0.12, 0.25, 0.4, 0.55, 0.68, 0.8, 0.88, 0.95, 1.08, 1.35, 2, 4];

/** Levels from here on are run from full queues: they settle from above. */
export const FULL = 1.05;

/** Ratio of one CPU limit of a table to the next. */
export const QUOTA_RATIO = 1.2;

/** Pod counts of a table; with two choices per request, more pods than the last behave like the last. */
export const POD_LEVELS: readonly number[] = [1, 2, 4];

/** Requests that a cell is made of, and those before them that are not counted. */
export const CELL_REQUESTS = 1_000;
export const CELL_WARMUP = 150;
/** The same in overload, at most. */
export const FULL_WARMUP = 500;

/** The tables' own stream; no study, test or training draws from it. */
export const TABLE_SEED = 0x7ab1e;
