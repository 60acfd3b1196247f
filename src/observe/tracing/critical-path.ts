/**
 * The critical path of a request: at every moment of it, the one span that everybody was waiting for.
 * Owns: the corrected form of Algorithm 3.1, the default. The printed form is in printed-path.ts.
 *
 * The walk goes back in time from the root's end. In a span it looks for the child that ended last before the present
 * moment: until then the span itself was at work, before it the child held it up, so the walk goes on in the child; when
 * it reaches the child's start it goes on in the parent, from that moment. What the printed form leaves open:
 *
 * - The reference moves to each accepted child, so that of overlapping siblings only the last to end is on the path.
 * - A child that ends exactly where the next begins (≤) preceded it.
 * - Clocks are not perfect: a child may overlap the moment by a hundredth of its parent's time and still count as before.
 * - Nobody waits for background work: a consumer of a message, a child that outlives its parent, what `relations` has
 *   learned to be background.
 * - A link says what a span waited for where the tree does not: at a span's start the walk goes on in the linked span.
 *
 * The segments tile the root's time, so the exclusive times on a path sum to the root's duration, always.
 */
import { LINK_WORDS, SPAN_WORDS, TRACE_WORDS, type TraceBlock } from "../telemetry/index.ts";
import { ChildrenByEnd, FEW } from "./children-by-end.ts";
import { isMessage } from "./clock-skew.ts";
import type { Relations } from "./relations.ts";

export interface CriticalPathOptions {
  /** By which share of its parent's duration a child may overlap and still count as before; 0.01 unless said. */
  readonly allowance?: number;
  /**
   * By how much more it may overlap a sibling of another instance, whose clock is another one, up to half of its own
   * duration; 0 unless said. Clocks are apart by a time, however long a request takes.
   */
  readonly skewUs?: number;
  /** What many executions have shown; without it one trace is judged by itself. */
  readonly relations?: Relations;
}

/** One uninterrupted time in which one span was what everybody waited for. */
export interface PathSegment {
  /** The span's place in its trace. */
  readonly span: number;
  readonly fromUs: number;
  readonly toUs: number;
}

export interface CriticalPath {
  /** Places in the trace, in the order of time, callers before what they called. */
  readonly spans: readonly number[];
  /** Of each of these, how long it alone held up the request. */
  readonly exclusiveUs: readonly number[];
  readonly segments: readonly PathSegment[];
}

const NONE = -1;
/** More jumps along links than this in one trace are no longer followed; they could be made quadratic on purpose. */
const MOST_JUMPS = 1_000;

/** Finds paths one after the other in the same memory: 50,000 a second must not make garbage. */
export class CriticalPathFinder {
  readonly #allowance: number;
  readonly #skewUs: number;
  readonly #relations: Relations | undefined;
  readonly #children = new ChildrenByEnd();
  #next = new Int32Array(64);
  #last = new Int32Array(64);
  #floor = new Float64Array(64);
  #isEntered = new Uint8Array(64);
  #exclusive = new Float64Array(64);
  #path = new Int32Array(64);
  #segmentSpan = new Int32Array(128);
  #segmentFrom = new Float64Array(128);
  #segmentTo = new Float64Array(128);
  #segments = 0;
  #length = 0;
  /** Of the trace at hand: its first row, and its spans. */
  #base = 0;
  #count = 0;
  #jumps = 0;

  constructor({ allowance = 0.01, skewUs = 0, relations }: CriticalPathOptions = {}) {
    this.#allowance = allowance;
    this.#skewUs = skewUs;
    this.#relations = relations;
  }

  /** How many spans are on the path that was found last. */
  get length(): number {
    return this.#length;
  }

  /** The k-th span of it, by its place in the trace. */
  spanAt(k: number): number {
    return this.#path[k]!;
  }

  /** How long a span of the trace, on the path or not, alone held up the request. */
  exclusiveUs(span: number): number {
    return this.#exclusive[span]!;
  }

  find(block: TraceBlock, trace: number): this {
    const base = block.offsets[trace]!;
    const count = block.offsets[trace + 1]! - base;
    this.#begin(block, base, count);
    const { startUs, endUs } = block.spans;
    let now = endUs[base]!;
    let span = 0;
    this.#enter(0, startUs[base]!);
    for (;;) {
      const child = this.#heldUpBy(block, span, now);
      if (child >= 0) {
        const ended = endUs[base + child]!;
        if (ended < now) {
          this.#emit(span, ended, now);
          now = ended;
        }
        this.#last[span] = child;
        this.#enter(child, Math.max(startUs[base + child]!, this.#floor[span]!));
        span = child;
        continue;
      }
      const floor = this.#floor[span]!;
      if (floor < now) {
        this.#emit(span, floor, now);
        now = floor;
      }
      if (span === 0) break;
      const parent = block.parent[base + span]!;
      const cause = block.spans.links.size === 0 ? NONE : this.#linkedCause(block, span, now);
      if (cause >= 0) {
        const ended = endUs[base + cause]!;
        if (ended < now) {
          this.#emitWait(block, parent, { from: ended, to: now });
          now = ended;
        }
        this.#enter(cause, Math.max(startUs[base + cause]!, startUs[base]!));
        span = cause;
        continue;
      }
      if (this.#isEntered[parent] === 0) {
        this.#enter(parent, Math.max(block.spans.startUs[base + parent]!, startUs[base]!));
      }
      this.#last[parent] = span;
      const parentEnded = endUs[base + parent]!;
      if (parentEnded < now) {
        // Only after a link has led into background work: its message waited between sender and receiver.
        this.#emitWait(block, parent, { from: parentEnded, to: now });
        now = parentEnded;
      }
      span = parent;
    }
    this.#arrange(block);
    return this;
  }

  /** The path found last, as plain data. */
  path(): CriticalPath {
    const spans = Array.from(this.#path.subarray(0, this.#length));
    const segments: PathSegment[] = [];
    for (let i = this.#segments - 1; i >= 0; i--) {
      segments.push({ span: this.#segmentSpan[i]!, fromUs: this.#segmentFrom[i]!, toUs: this.#segmentTo[i]! });
    }
    return { spans, exclusiveUs: spans.map((span) => this.#exclusive[span]!), segments };
  }

  /** The child that ended last by now, not looked at before; children are kept by falling end. */
  #heldUpBy(block: TraceBlock, span: number, now: number): number {
    const base = this.#base;
    const { startUs, endUs, kind } = block.spans;
    const end = this.#children.first[span + 1]!;
    let next = this.#next[span]!;
    if (next >= end) return NONE;
    const latest = now + this.#allowance * (endUs[base + span]! - startUs[base + span]!);
    const floor = this.#floor[span]!;
    const relations = this.#relations;
    for (; next < end; next++) {
      const child = this.#children.list[next]!;
      const ended = endUs[base + child]!;
      // It overlaps what is on the path, or outlives its parent.
      if (ended > latest && !this.#isSkewed(block, child, { before: this.#last[span]!, span, now })) continue;
      if (ended <= floor) {
        next = end; // so do all that follow
        break;
      }
      if (startUs[base + child]! >= now || this.#isEntered[child] === 1) continue;
      if (isMessage(kind[base + span]!, kind[base + child]!)) continue;
      if (relations !== undefined && this.#isRuledOut(block, child, span)) continue;
      this.#next[span] = next + 1;
      return child;
    }
    this.#next[span] = next;
    return NONE;
  }

  /** Whether its overlap with the sibling that is on the path, or its end after its parent's, may be a matter of clocks. */
  #isSkewed(
    block: TraceBlock,
    child: number,
    { before, span, now }: { readonly before: number; readonly span: number; readonly now: number },
  ): boolean {
    if (this.#skewUs === 0) return false;
    const { startUs, endUs, instance } = block.spans;
    const row = this.#base + child;
    const other = this.#base + (before < 0 ? span : before);
    if (instance[row] === instance[other]) return false;
    return endUs[row]! - now <= Math.min(this.#skewUs, (endUs[row]! - startUs[row]!) / 2);
  }

  #isRuledOut(block: TraceBlock, child: number, span: number): boolean {
    const relations = this.#relations!;
    const [childRow, parentRow] = [this.#base + child, this.#base + span];
    if (relations.isBackground(block, parentRow, childRow)) return true;
    const after = this.#last[span]!;
    return after >= 0 && relations.areParallel(block, parentRow, { first: childRow, second: this.#base + after });
  }

  /** Of the spans of this trace that `span` links to, the one that ended last before it began. */
  #linkedCause(block: TraceBlock, span: number, now: number): number {
    const row = this.#base + span;
    const links = block.spans.links.get(row);
    if (links === undefined || this.#jumps >= MOST_JUMPS) return NONE;
    const { startUs, endUs, traceIds } = block.spans;
    const latest = now + this.#allowance * (endUs[row]! - startUs[row]!);
    let found = NONE;
    for (let at = 0; at < links.length; at += LINK_WORDS) {
      let isHere = true;
      for (let w = 0; w < TRACE_WORDS; w++) isHere &&= links[at + w] === traceIds[TRACE_WORDS * row + w];
      if (!isHere) continue;
      const cause = this.#placeOf(block, links, at + TRACE_WORDS);
      if (cause <= 0 || this.#isEntered[cause] === 1) continue;
      const ended = endUs[this.#base + cause]!;
      if (ended > latest || startUs[this.#base + cause]! >= now) continue;
      if (ended <= startUs[this.#base]!) continue;
      if (found < 0 || ended > endUs[this.#base + found]!) found = cause;
    }
    if (found >= 0) this.#jumps += 1;
    return found;
  }

  #placeOf(block: TraceBlock, words: Uint32Array, at: number): number {
    const ids = block.spans.spanIds;
    for (let k = 0; k < this.#count; k++) {
      const id = SPAN_WORDS * (this.#base + k);
      if (ids[id] === words[at] && ids[id + 1] === words[at + 1]) return k;
    }
    return NONE;
  }

  #begin(block: TraceBlock, base: number, count: number): void {
    if (count > this.#next.length) this.#grow(Math.max(count, 2 * this.#next.length));
    this.#base = base;
    this.#count = count;
    this.#segments = 0;
    this.#length = 0;
    this.#jumps = 0;
    this.#children.read(block, base, count);
    for (let i = 0; i < count; i++) {
      this.#next[i] = this.#children.first[i]!;
      this.#last[i] = NONE;
      this.#isEntered[i] = 0;
      this.#exclusive[i] = 0;
    }
  }

  #enter(span: number, floor: number): void {
    this.#isEntered[span] = 1;
    this.#floor[span] = floor;
    this.#path[this.#length++] = span;
  }

  #emit(span: number, from: number, to: number): void {
    this.#exclusive[span]! += to - from;
    // A child that took no time of its own does not cut its parent's segment in two.
    const before = this.#segments - 1;
    if (before >= 0 && this.#segmentSpan[before] === span && this.#segmentFrom[before] === to) {
      this.#segmentFrom[before] = from;
      return;
    }
    if (this.#segments === this.#segmentSpan.length) this.#growSegments();
    this.#segmentSpan[this.#segments] = span;
    this.#segmentFrom[this.#segments] = from;
    this.#segmentTo[this.#segments] = to;
    this.#segments += 1;
  }

  /** A time in which none of the two ends of a message was at work is the nearest caller's that was there all the time. */
  #emitWait(block: TraceBlock, span: number, { from, to }: { from: number; to: number }): void {
    const { startUs, endUs } = block.spans;
    let holder = span;
    while (holder > 0 && !(startUs[this.#base + holder]! <= from && endUs[this.#base + holder]! >= to))
      holder = block.parent[this.#base + holder]!;
    if (this.#isEntered[holder] === 0)
      this.#enter(holder, Math.max(startUs[this.#base + holder]!, startUs[this.#base]!));
    this.#emit(holder, from, to);
  }

  /** By start, and callers before callees: a parent's place is always the smaller one. */
  #arrange(block: TraceBlock): void {
    const startUs = block.spans.startUs;
    const path = this.#path;
    const base = this.#base;
    const isAfter = (a: number, b: number): boolean => {
      const difference = startUs[base + a]! - startUs[base + b]!;
      return difference > 0 || (difference === 0 && a > b);
    };
    if (this.#length > FEW) {
      path.subarray(0, this.#length).sort((a, b) => (isAfter(a, b) ? 1 : -1));
      return;
    }
    for (let i = 1; i < this.#length; i++) {
      const span = path[i]!;
      let k = i - 1;
      while (k >= 0 && isAfter(path[k]!, span)) {
        path[k + 1] = path[k]!;
        k -= 1;
      }
      path[k + 1] = span;
    }
  }

  #grow(count: number): void {
    this.#next = new Int32Array(count);
    this.#last = new Int32Array(count);
    this.#floor = new Float64Array(count);
    this.#isEntered = new Uint8Array(count);
    this.#exclusive = new Float64Array(count);
    this.#path = new Int32Array(count);
  }

  #growSegments(): void {
    const size = 2 * this.#segmentSpan.length;
    const span = new Int32Array(size);
    span.set(this.#segmentSpan);
    this.#segmentSpan = span;
    for (const name of ["from", "to"] as const) {
      const times = new Float64Array(size);
      times.set(name === "from" ? this.#segmentFrom : this.#segmentTo);
      if (name === "from") this.#segmentFrom = times;
      else this.#segmentTo = times;
    }
  }
}

/** The critical path of one trace of a block. */
export function criticalPath(block: TraceBlock, trace = 0, options: CriticalPathOptions = {}): CriticalPath {
  return new CriticalPathFinder(options).find(block, trace).path();
}
