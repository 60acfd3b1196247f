/**
 * Assembled traces, many in one set of columns.
 * Owns: the shape that critical paths, graphs and stores read: each trace's spans lie together, the root first and every
 * parent before its children. Not here: assembling them (observe/tracing), where they are kept (adapters/store).
 */
import type { NameTable } from "./name-table.ts";
import { SpanColumns } from "./span-columns.ts";
import { TRACE_WORDS, wordsToHex } from "./span-ids.ts";

/** Why a trace was taken as complete. */
export const SEAL_REASONS = [
  /** Its root came, and the time for the others to follow passed. */
  "settled",
  /** Its root never came. */
  "rootless",
  /** Room was needed for others. */
  "pressure",
  /** There is no more to come: the end of a file, a shutdown. */
  "flush",
] as const;
export type SealReason = (typeof SEAL_REASONS)[number];

/** Bits of `TraceBlock.flags`. */
export const SpanFlag = {
  /** Its parent never came; it hangs below the root. */
  ORPHAN: 1,
  /** Its times were moved to those of its parent's clock. */
  SKEWED: 2,
} as const;

export class TraceBlock {
  readonly spans: SpanColumns;
  /** Within the trace: 0 is the root, which has -1. */
  parent: Int32Array;
  flags: Uint8Array;
  /** By how much both times of a span were moved; microseconds. */
  skewUs: Float64Array;
  /** Trace `k` is rows `offsets[k]` to `offsets[k + 1]`. */
  offsets: Int32Array;
  sealedBy: Uint8Array;
  size = 0;

  constructor(names: NameTable, capacity = 64) {
    this.spans = new SpanColumns(names, capacity);
    this.parent = new Int32Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.skewUs = new Float64Array(capacity);
    this.offsets = new Int32Array(17);
    this.sealedBy = new Uint8Array(17);
  }

  get names(): NameTable {
    return this.spans.names;
  }

  /** Forgets the traces and keeps the memory. */
  clear(): void {
    this.size = 0;
    this.spans.clear();
  }

  /** Room for one more trace of that many spans. */
  reserve(spans: number): void {
    const rows = this.spans.length + spans;
    this.spans.reserve(rows);
    if (rows > this.parent.length) {
      const capacity = this.spans.capacity;
      this.parent = larger(this.parent, new Int32Array(capacity));
      this.flags = larger(this.flags, new Uint8Array(capacity));
      this.skewUs = larger(this.skewUs, new Float64Array(capacity));
    }
    if (this.size + 2 > this.offsets.length) {
      this.offsets = larger(this.offsets, new Int32Array(2 * this.offsets.length));
      this.sealedBy = larger(this.sealedBy, new Uint8Array(this.offsets.length));
    }
  }

  /** Closes the trace whose rows were added last. */
  endTrace(reason: SealReason): void {
    this.sealedBy[this.size] = SEAL_REASONS.indexOf(reason);
    this.size += 1;
    this.offsets[this.size] = this.spans.length;
  }

  traceId(trace: number): string {
    return wordsToHex(this.spans.traceIds, { at: TRACE_WORDS * this.offsets[trace]!, words: TRACE_WORDS });
  }

  spansOf(trace: number): number {
    return this.offsets[trace + 1]! - this.offsets[trace]!;
  }

  /** Of the root, as the client saw it. */
  durationUs(trace: number): number {
    const root = this.offsets[trace]!;
    return this.spans.endUs[root]! - this.spans.startUs[root]!;
  }

  get allocatedBytes(): number {
    return this.spans.allocatedBytes + this.parent.length * 13 + this.offsets.length * 5;
  }
}

function larger<T extends { set(from: ArrayLike<number>): void } & ArrayLike<number>>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}
