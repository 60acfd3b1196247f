/**
 * From the loose spans of one trace to a tree.
 * Owns: duplicates, parents that never came, several roots, cycles, clock skew, and the order of the rows in a block.
 * Not here: when a trace is complete (assembler.ts).
 *
 * The result does not depend on the order in which the spans came, except which of two spans with one id is kept: the
 * first. Every span that is left out is counted.
 */
import {
  type KeyedHash,
  type SealReason,
  SPAN_WORDS,
  type SpanColumns,
  type SpanDrops,
  SpanFlag,
  TRACE_WORDS,
  type TraceBlock,
} from "../telemetry/index.ts";
import { skewOf, type TimedSpan } from "./clock-skew.ts";

export interface TraceBuilderOptions {
  /** A clock that seems to be wrong by more is left alone: the times are broken in another way. 1 hour unless said. */
  readonly maxSkewUs?: number;
  readonly hash: KeyedHash;
}

/** Spans of one trace, wherever they lie in their table. */
export interface LooseTrace {
  readonly rows: Int32Array;
  readonly count: number;
  /** Four words; the rows need not carry them. */
  readonly traceId: { readonly words: Uint32Array; readonly at: number };
  readonly reason: SealReason;
  readonly drops: SpanDrops;
}

const NONE = -1;
const ORPHAN = -2;

export class TraceBuilder {
  readonly #maxSkewUs: number;
  readonly #hash: KeyedHash;
  /** Scratch, as long as the largest trace so far. */
  #rows = new Int32Array(64);
  #parents = new Int32Array(64);
  #firstChild = new Int32Array(65);
  #children = new Int32Array(64);
  #queue = new Int32Array(64);
  /** Open addressing from span id to the place in #rows. */
  #slots = new Int32Array(128);
  #mask = 127;
  #count = 0;
  readonly #parent: TimedSpan = { startUs: 0, endUs: 0, kind: 0 };
  readonly #child: TimedSpan = { startUs: 0, endUs: 0, kind: 0 };
  /** Spans whose parent never came, and spans whose own clock was found to be wrong, since the beginning. */
  orphans = 0;
  skewed = 0;

  constructor({ maxSkewUs = 3.6e9, hash }: TraceBuilderOptions) {
    this.#maxSkewUs = maxSkewUs;
    this.#hash = hash;
  }

  get allocatedBytes(): number {
    return 4 * (5 * this.#rows.length + this.#slots.length);
  }

  /** Adds the trace to the block; false when no span of it could be used. */
  append(block: TraceBlock, source: SpanColumns, loose: LooseTrace): boolean {
    this.#reserve(loose.count);
    const count = this.#distinct(source, loose);
    const root = this.#findParents(source, count);
    if (root < 0) {
      loose.drops.add("cycle", count);
      return false;
    }
    this.#indexChildren(count);
    const reached = this.#order(root);
    loose.drops.add("cycle", count - reached);
    this.#write(block, source, { reached, root, traceId: loose.traceId });
    block.endTrace(loose.reason);
    return true;
  }

  /** Fills #rows by start time, each span id once, and #slots with their places. */
  #distinct(source: SpanColumns, { rows, count, drops }: LooseTrace): number {
    this.#slots.fill(NONE, 0, this.#mask + 1);
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      this.#rows[kept] = row;
      const slot = this.#slotOf(source, SPAN_WORDS * row, source.spanIds);
      if (this.#slots[slot]! >= 0) drops.add("duplicate");
      else this.#slots[slot] = kept++;
    }
    sortRows(this.#rows, kept, source);
    this.#slots.fill(NONE, 0, this.#mask + 1);
    for (let i = 0; i < kept; i++) this.#slots[this.#slotOf(source, SPAN_WORDS * this.#rows[i]!, source.spanIds)] = i;
    return kept;
  }

  /** Where the id at `words[at]` is, or would be put. */
  #slotOf(source: SpanColumns, at: number, words: Uint32Array): number {
    const high = words[at]!;
    const low = words[at + 1]!;
    let slot = this.#hash.ofWords(words, at, SPAN_WORDS) & this.#mask;
    for (;;) {
      const place = this.#slots[slot]!;
      if (place < 0) return slot;
      const id = SPAN_WORDS * this.#rows[place]!;
      if (source.spanIds[id] === high && source.spanIds[id + 1] === low) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  /**
   * Fills #parents and returns the root's place, -1 when everybody has a parent here. The root is the earliest span that
   * names no parent; where all name one, the earliest whose parent never came.
   */
  #findParents(source: SpanColumns, count: number): number {
    let root = NONE;
    let stray = NONE;
    for (let i = 0; i < count; i++) {
      const at = SPAN_WORDS * this.#rows[i]!;
      let parent = NONE;
      if (source.parentIds[at] !== 0 || source.parentIds[at + 1] !== 0) {
        const place = this.#slots[this.#slotOf(source, at, source.parentIds)]!;
        parent = place >= 0 ? place : ORPHAN;
      }
      this.#parents[i] = parent;
      if (parent === NONE && root < 0) root = i;
      if (parent === ORPHAN && stray < 0) stray = i;
    }
    return root >= 0 ? root : stray;
  }

  /** Children of place `p` are #children from #firstChild[p] to #firstChild[p + 1], in the order of their starts. */
  #indexChildren(count: number): void {
    const first = this.#firstChild;
    first.fill(0, 0, count + 1);
    for (let i = 0; i < count; i++) {
      const parent = this.#parents[i]!;
      if (parent >= 0) first[parent + 1]! += 1;
    }
    for (let i = 0; i < count; i++) first[i + 1]! += first[i]!;
    const next = this.#queue;
    for (let i = 0; i < count; i++) next[i] = first[i]!;
    for (let i = 0; i < count; i++) {
      const parent = this.#parents[i]!;
      if (parent >= 0) this.#children[next[parent]!++] = i;
    }
    this.#count = count;
  }

  /** Fills #queue with the places in breadth-first order from the root; strays follow as the root's children. */
  #order(root: number): number {
    const queue = this.#queue;
    let length = 0;
    queue[length++] = root;
    for (let i = 0; i < this.#count; i++) if (i !== root && this.#parents[i]! < 0) queue[length++] = i;
    for (let head = 0; head < length; head++) {
      const place = queue[head]!;
      const end = this.#firstChild[place + 1]!;
      for (let c = this.#firstChild[place]!; c < end; c++) queue[length++] = this.#children[c]!;
    }
    return length;
  }

  #write(block: TraceBlock, source: SpanColumns, { reached, root, traceId }: Ordered): void {
    block.reserve(reached);
    const to = block.spans;
    const base = to.length;
    to.length = base + reached;
    // #children is free again: it now says where each place went in the block.
    const went = this.#children;
    for (let k = 0; k < reached; k++) {
      const place = this.#queue[k]!;
      went[place] = k;
      const row = this.#rows[place]!;
      const target = base + k;
      to.setRow(target, source, row);
      for (let w = 0; w < TRACE_WORDS; w++) to.traceIds[TRACE_WORDS * target + w] = traceId.words[traceId.at + w]!;
      to.setAttributes(target, source.attributeBytes, {
        from: source.attributesFrom[row]!,
        to: source.attributesTo[row]!,
      });
      const parent = this.#parents[place]!;
      const isStray = parent < 0 && place !== root;
      if (isStray || parent === ORPHAN) this.orphans += 1;
      block.flags[target] = isStray || parent === ORPHAN ? SpanFlag.ORPHAN : 0;
      block.parent[target] = place === root ? NONE : isStray ? 0 : went[parent]!;
      block.skewUs[target] = 0;
      if (place !== root && !isStray) this.#adjust(block, target, base + went[parent]!);
    }
  }

  #adjust(block: TraceBlock, row: number, parentRow: number): void {
    const { startUs, endUs, kind, instance } = block.spans;
    let delta = 0;
    if (instance[row] === instance[parentRow]) delta = block.skewUs[parentRow]!;
    else {
      const parent = this.#parent;
      parent.startUs = startUs[parentRow]!;
      parent.endUs = endUs[parentRow]!;
      parent.kind = kind[parentRow]!;
      const child = this.#child;
      child.startUs = startUs[row]!;
      child.endUs = endUs[row]!;
      child.kind = kind[row]!;
      delta = skewOf(parent, child);
      if (Math.abs(delta) > this.#maxSkewUs) delta = 0;
      if (delta !== 0) this.skewed += 1;
    }
    if (delta === 0) return;
    startUs[row]! += delta;
    endUs[row]! += delta;
    block.skewUs[row] = delta;
    block.flags[row]! |= SpanFlag.SKEWED;
  }

  #reserve(count: number): void {
    if (count > this.#rows.length) {
      const room = Math.max(count, 2 * this.#rows.length);
      this.#rows = new Int32Array(room);
      this.#parents = new Int32Array(room);
      this.#firstChild = new Int32Array(room + 1);
      this.#children = new Int32Array(room);
      this.#queue = new Int32Array(room);
      this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * room)));
    }
    // Only as much of the table as this trace needs: clearing it is most of the work for a small one.
    let size = 16;
    while (size < 2 * count) size *= 2;
    this.#mask = size - 1;
  }
}

interface Ordered {
  readonly reached: number;
  readonly root: number;
  readonly traceId: LooseTrace["traceId"];
}

/** Up to here an insertion sort is faster than the library's sort with a function to call. */
const FEW = 24;

/** By start, then longest first, then id: the same for every order of arrival, and parents tend to come first. */
function sortRows(rows: Int32Array, count: number, source: SpanColumns): void {
  if (count > FEW) {
    rows.subarray(0, count).sort((a, b) => compareRows(source, a, b));
    return;
  }
  for (let i = 1; i < count; i++) {
    const row = rows[i]!;
    let k = i - 1;
    while (k >= 0 && compareRows(source, rows[k]!, row) > 0) {
      rows[k + 1] = rows[k]!;
      k -= 1;
    }
    rows[k + 1] = row;
  }
}

function compareRows({ startUs, endUs, spanIds }: SpanColumns, a: number, b: number): number {
  return (
    startUs[a]! - startUs[b]! ||
    endUs[b]! - endUs[a]! ||
    spanIds[SPAN_WORDS * a]! - spanIds[SPAN_WORDS * b]! ||
    spanIds[SPAN_WORDS * a + 1]! - spanIds[SPAN_WORDS * b + 1]!
  );
}
