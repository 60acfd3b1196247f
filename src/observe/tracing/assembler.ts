/**
 * From a stream of spans to whole traces.
 * Owns: which spans are held, when a trace is taken as complete, the bounds on memory, and the count of everything that
 * was not used. Not here: making a tree of a trace's spans (trace-builder.ts), receiving spans (adapters/otlp), keeping
 * traces (adapters/store).
 *
 * Spans come late, twice, out of order and without their parents, because every instance sends its own when it likes. A
 * trace is sealed a fixed time after its root came; without a root, when nothing came for a longer time. What comes after
 * that is late: it is counted and not used, because decisions were made on the trace and must stay reproducible.
 *
 * Memory is bounded by construction: all that waits lies in columns of a fixed greatest size. When they are full the
 * oldest trace is sealed early. Time is an argument; calls with an earlier time than the last one are taken as that one.
 */
import type { Ms } from "../../base/index.ts";
import {
  type NameTable,
  type SealReason,
  SpanColumns,
  SpanDrops,
  TRACE_WORDS,
  TraceBlock,
} from "../telemetry/index.ts";
import { type AssemblerLimits, defaultAssemblerLimits } from "./assembler-limits.ts";
import { AttributeArena } from "./attribute-arena.ts";
import { OpenTraces, PROMPT, ROOTED, ROOTLESS, type TraceList } from "./open-traces.ts";
import { SealedIds } from "./sealed-ids.ts";
import { TraceBuilder } from "./trace-builder.ts";

/** Counts since the beginning. */
export interface AssemblerCounts {
  readonly admitted: number;
  readonly traces: number;
  readonly orphans: number;
  readonly skewed: number;
  /** Spans that were kept without their attributes, for want of room. */
  readonly attributesLost: number;
  readonly sealed: Readonly<Record<SealReason, number>>;
  readonly dropped: ReturnType<SpanDrops["counts"]>;
}

const NONE = -1;

export interface AdmitOptions {
  /** The sender holds no spans back: when the root has come, so have nearly all others. */
  readonly isPrompt?: boolean;
  /** They were acknowledged by an earlier process, whose clock may have been ahead of this one's. */
  readonly wasTaken?: boolean;
}

export class TraceAssembler {
  readonly names: NameTable;
  readonly limits: AssemblerLimits;
  readonly drops = new SpanDrops();
  readonly #pool: SpanColumns;
  /** The next row of the same trace, or of the free ones. */
  #nextRow: Int32Array;
  #freeRow = NONE;
  #waiting = 0;
  readonly #arena: AttributeArena;
  readonly #open: OpenTraces;
  readonly #sealedIds: SealedIds;
  readonly #builder: TraceBuilder;
  #rows = new Int32Array(64);
  #ready: TraceBlock;
  #spare: TraceBlock | undefined;
  #now = Number.NEGATIVE_INFINITY;
  #admitted = 0;
  /** The list for traces whose root comes now. */
  #rooted: TraceList = ROOTED;
  #traces = 0;
  #attributesLost = 0;
  readonly #sealed: Record<SealReason, number> = { settled: 0, rootless: 0, pressure: 0, flush: 0 };
  readonly #translations = new WeakMap<NameTable, Int32Array>();

  constructor(names: NameTable, limits: Partial<AssemblerLimits> = {}) {
    this.names = names;
    this.limits = { ...defaultAssemblerLimits, ...limits };
    const { maxSpans, maxTraces, maxAttributeBytes, rememberedTraces, maxSkewUs } = this.limits;
    const rows = Math.min(maxSpans, 4_096);
    this.#pool = new SpanColumns(names, rows);
    this.#nextRow = new Int32Array(rows);
    this.#chainFree(0);
    this.#arena = new AttributeArena(maxAttributeBytes);
    this.#open = new OpenTraces(maxTraces, names.hash);
    this.#sealedIds = new SealedIds(rememberedTraces, names.hash);
    this.#builder = new TraceBuilder({ maxSkewUs, hash: names.hash });
    this.#ready = new TraceBlock(names, 1_024);
  }

  /** Spans that wait for their traces to be complete. */
  get waitingSpans(): number {
    return this.#waiting;
  }

  get openTraces(): number {
    return this.#open.size;
  }

  /** Everything that is held, in bytes; the greatest it can be follows from the limits. */
  get allocatedBytes(): number {
    return (
      this.#pool.allocatedBytes +
      this.#nextRow.byteLength +
      this.#arena.bytes.byteLength +
      this.#open.allocatedBytes +
      this.#sealedIds.allocatedBytes +
      this.#builder.allocatedBytes +
      this.#ready.allocatedBytes +
      (this.#spare?.allocatedBytes ?? 0)
    );
  }

  counts(): AssemblerCounts {
    return {
      admitted: this.#admitted,
      traces: this.#traces,
      orphans: this.#builder.orphans,
      skewed: this.#builder.skewed,
      attributesLost: this.#attributesLost,
      sealed: { ...this.#sealed },
      dropped: this.drops.counts(),
    };
  }

  /** Takes what can be used of a batch; returns how many spans that were. The batch is the caller's again. */
  admit(batch: SpanColumns, now: Ms, { isPrompt = false, wasTaken = false }: AdmitOptions = {}): number {
    this.advance(now);
    this.#rooted = isPrompt ? PROMPT : ROOTED;
    const names = batch.names === this.names ? undefined : this.#translationOf(batch.names);
    const latest = wasTaken ? Number.POSITIVE_INFINITY : (this.#now + this.limits.futureAllowance) * 1_000;
    let admitted = 0;
    for (let row = 0; row < batch.length; row++) {
      const start = batch.startUs[row]!;
      // The comparison is false for NaN, so what is no number is refused here too.
      if (!(batch.endUs[row]! >= start && start >= 0)) this.drops.add("negative-duration");
      else if (start > latest) this.drops.add("future");
      else if (this.#admitRow(batch, row, names)) admitted += 1;
    }
    this.#admitted += admitted;
    return admitted;
  }

  /** Seals what is due. */
  advance(now: Ms): void {
    this.#now = Math.max(this.#now, now);
    this.#sealUntil(ROOTED, this.#now - this.limits.settle, "settled");
    this.#sealUntil(PROMPT, this.#now - this.limits.promptSettle, "settled");
    this.#sealUntil(ROOTLESS, this.#now - this.limits.rootlessWait, "rootless");
  }

  /** Seals everything: there is no more to come. */
  flush(): void {
    this.#sealUntil(ROOTED, Number.POSITIVE_INFINITY, "flush");
    this.#sealUntil(PROMPT, Number.POSITIVE_INFINITY, "flush");
    this.#sealUntil(ROOTLESS, Number.POSITIVE_INFINITY, "flush");
  }

  /** The traces sealed since the last call, as a block that is now the caller's; null when there are none. */
  take(): TraceBlock | null {
    if (this.#ready.size === 0) return null;
    const block = this.#ready;
    this.#ready = this.#spare ?? new TraceBlock(this.names, 1_024);
    this.#spare = undefined;
    return block;
  }

  /** Gives a block back to be filled again, when nobody reads it any more. */
  giveBack(block: TraceBlock): void {
    block.clear();
    this.#spare = block;
  }

  #admitRow(batch: SpanColumns, row: number, names: Int32Array | undefined): boolean {
    if (this.#freeRow < 0) this.#makeRoom();
    const id = TRACE_WORDS * row;
    let slot = this.#open.find(batch.traceIds, id);
    if (slot < 0) {
      if (this.#sealedIds.has(batch.traceIds, id)) {
        this.drops.add("late");
        return false;
      }
      if (this.#open.isFull) this.#sealOldest();
      slot = this.#open.open(batch.traceIds, id, this.#now);
    }
    if (this.#open.spans[slot]! >= this.limits.maxSpansPerTrace) {
      this.drops.add("trace-too-large");
      return false;
    }
    const to = this.#freeRow;
    this.#freeRow = this.#nextRow[to]!;
    this.#waiting += 1;
    this.#pool.setRow(to, batch, row);
    if (names !== undefined) this.#translate(to, names);
    this.#keepAttributes(to, batch, row);
    this.#nextRow[to] = this.#open.firstRow[slot]!;
    this.#open.firstRow[slot] = to;
    this.#open.spans[slot]! += 1;
    const isRoot = batch.parentIds[2 * row] === 0 && batch.parentIds[2 * row + 1] === 0;
    if (this.#open.listOf(slot) === ROOTLESS) this.#open.move(slot, isRoot ? this.#rooted : ROOTLESS, this.#now);
    return true;
  }

  #keepAttributes(to: number, batch: SpanColumns, row: number): void {
    const [from, end] = [batch.attributesFrom[row]!, batch.attributesTo[row]!];
    this.#pool.attributesFrom[to] = 0;
    this.#pool.attributesTo[to] = 0;
    if (end <= from || this.limits.maxAttributeBytes === 0) return;
    const at = this.#arena.put(batch.attributeBytes, from, end);
    if (at < 0) {
      this.#attributesLost += 1;
      return;
    }
    this.#pool.attributesFrom[to] = at;
    this.#pool.attributesTo[to] = at + end - from;
  }

  #sealUntil(list: TraceList, seenBy: number, reason: SealReason): void {
    for (;;) {
      const slot = this.#open.oldest(list);
      if (slot < 0 || this.#open.seenAt[slot]! > seenBy) return;
      this.#seal(slot, reason);
    }
  }

  /** Those with a root first: they are most likely complete. */
  #sealOldest(): void {
    const first = [ROOTED, PROMPT, ROOTLESS].find((list) => this.#open.oldest(list as TraceList) >= 0) ?? ROOTLESS;
    this.#seal(this.#open.oldest(first as TraceList), "pressure");
  }

  #seal(slot: number, reason: SealReason): void {
    const count = this.#open.spans[slot]!;
    if (count > this.#rows.length) this.#rows = new Int32Array(Math.max(count, 2 * this.#rows.length));
    let last = NONE;
    for (let row = this.#open.firstRow[slot]!, k = count - 1; k >= 0; k--, row = this.#nextRow[row]!) {
      this.#rows[k] = row;
      last = row;
    }
    this.#pool.attributeBytes = this.#arena.bytes;
    if (this.#ready.spans.length + count > this.limits.maxReadySpans) this.drops.add("no-room", count);
    else {
      const traceId = { words: this.#open.ids, at: TRACE_WORDS * slot };
      const loose = { rows: this.#rows, count, traceId, reason, drops: this.drops };
      if (this.#builder.append(this.#ready, this.#pool, loose)) this.#traces += 1;
    }
    this.#sealed[reason] += 1;
    for (let k = 0; k < count; k++) {
      const row = this.#rows[k]!;
      if (this.#pool.attributesTo[row]! > this.#pool.attributesFrom[row]!)
        this.#arena.release(this.#pool.attributesFrom[row]!);
      if (this.#pool.links.size > 0) this.#pool.links.delete(row);
    }
    if (last >= 0) {
      this.#nextRow[last] = this.#freeRow;
      this.#freeRow = this.#open.firstRow[slot]!;
    }
    this.#waiting -= count;
    this.#sealedIds.add(this.#open.ids, TRACE_WORDS * slot);
    this.#open.close(slot);
  }

  #makeRoom(): void {
    const old = this.#pool.capacity;
    if (old < this.limits.maxSpans) {
      this.#pool.resize(Math.min(this.limits.maxSpans, 2 * old));
      const next = new Int32Array(this.#pool.capacity);
      next.set(this.#nextRow);
      this.#nextRow = next;
      this.#chainFree(old);
    } else this.#sealOldest();
  }

  #chainFree(from: number): void {
    for (let row = this.#nextRow.length - 1; row >= from; row--) {
      this.#nextRow[row] = this.#freeRow;
      this.#freeRow = row;
    }
  }

  /** Another table's names as ours; kept, because a receiver uses one table for all its batches. */
  #translationOf(other: NameTable): Int32Array {
    const known = this.#translations.get(other);
    if (known !== undefined && known.length >= other.size) return known;
    const fresh = Int32Array.from({ length: other.size }, (_, id) => this.names.intern(other.text(id)));
    this.#translations.set(other, fresh);
    return fresh;
  }

  #translate(row: number, names: Int32Array): void {
    this.#pool.service[row] = names[this.#pool.service[row]!] ?? 0;
    this.#pool.instance[row] = names[this.#pool.instance[row]!] ?? 0;
    this.#pool.operation[row] = names[this.#pool.operation[row]!] ?? 0;
  }
}
