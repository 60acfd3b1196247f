/**
 * What was told, kept for those who look after a restart.
 * Owns: the port, and keeping nothing. Not here: the files (cli/up/history-files.ts).
 */
import type { Result } from "../base/index.ts";
import { ok } from "../base/index.ts";
import type { Account, PlaneUpdate } from "../contract/index.ts";

export interface History {
  /** What was told before, oldest first; once, for it is large. */
  takePast(): readonly PlaneUpdate[];
  /** World time of the newest line; -Infinity where there is none. */
  readonly newestAt: number;
  /** Sums as they were when last told. */
  readonly accounts: ReadonlyMap<string, { readonly own: Account; readonly twin: Account | null }>;
  /** Lines that are not what was written, and were passed over. */
  readonly damaged: number;
  append(updates: readonly PlaneUpdate[]): Result<void>;
  close(): void;
}

export const emptyHistory: History = {
  takePast: () => [],
  newestAt: Number.NEGATIVE_INFINITY,
  accounts: new Map(),
  damaged: 0,
  append: () => ok(undefined),
  close: () => undefined,
};
