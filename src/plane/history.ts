/**
 * What was told, kept for those who look after a restart.
 * Owns: the port, and keeping nothing. Not here: the files (cli/up/history-files.ts).
 */
import type { Result } from "../base/index.ts";
import { ok } from "../base/index.ts";
import type { Account, PlaneUpdate } from "../contract/index.ts";
import type { BudgetStep } from "./budget.ts";

export interface History {
  /** What was told before, oldest first; once, for it is large. */
  takePast(): readonly PlaneUpdate[];
  /** World time of the newest line; -Infinity where there is none. */
  readonly newestAt: number;
  /** Sums as they were when last told. */
  readonly accounts: ReadonlyMap<string, { readonly own: Account; readonly twin: Account | null }>;
  /** What was told of a workload's steps after a moment, oldest first, until the past is taken: newer than what was saved. */
  stepsAfter(workload: string, at: number): readonly BudgetStep[];
  /** Lines that are not what was written, and were passed over. */
  readonly damaged: number;
  append(updates: readonly PlaneUpdate[]): Result<void>;
  close(): void;
}

export const emptyHistory: History = {
  takePast: () => [],
  newestAt: Number.NEGATIVE_INFINITY,
  accounts: new Map(),
  stepsAfter: () => [],
  damaged: 0,
  append: () => ok(undefined),
  close: () => undefined,
};
