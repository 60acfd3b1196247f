/**
 * The traces that are being put together: found by id, and in the order in which they will be complete.
 * Owns: a hash table of trace ids and three lists: those whose root has come (in the order it came), by how long they wait
 * from then on, and the others (in the order of their newest span). Not here: the spans (assembler.ts).
 */
import { type KeyedHash, TRACE_WORDS } from "../telemetry/index.ts";

const NONE = -1;
/** The three lists. */
export const ROOTLESS = 0;
export const ROOTED = 1;
/** With a root, from a sender that holds no spans back. */
export const PROMPT = 2;
export type TraceList = typeof ROOTLESS | typeof ROOTED | typeof PROMPT;

export class OpenTraces {
  readonly #most: number;
  readonly #hash: KeyedHash;
  ids: Uint32Array;
  /** The newest span's row, a list that the assembler links. */
  firstRow: Int32Array;
  spans: Int32Array;
  /** When the root came, or without one the newest span; milliseconds. */
  seenAt: Float64Array;
  #list: Uint8Array;
  #before: Int32Array;
  #after: Int32Array;
  readonly #heads = new Int32Array(3).fill(NONE);
  readonly #tails = new Int32Array(3).fill(NONE);
  /** Open addressing; holds slots. */
  #table: Int32Array;
  #mask: number;
  #free = NONE;
  #size = 0;

  constructor(most: number, hash: KeyedHash) {
    this.#most = most;
    this.#hash = hash;
    const capacity = Math.min(most, 1_024);
    this.ids = new Uint32Array(TRACE_WORDS * capacity);
    this.firstRow = new Int32Array(capacity);
    this.spans = new Int32Array(capacity);
    this.seenAt = new Float64Array(capacity);
    this.#list = new Uint8Array(capacity);
    this.#before = new Int32Array(capacity);
    this.#after = new Int32Array(capacity);
    this.#table = new Int32Array(0);
    this.#mask = 0;
    this.#chainFree(0);
    this.#rehash();
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size >= this.#most;
  }

  get allocatedBytes(): number {
    return this.spans.length * (4 * TRACE_WORDS + 4 + 4 + 8 + 1 + 8) + this.#table.byteLength;
  }

  /** The slot of the trace, -1 when it is not open. */
  find(words: Uint32Array, at: number): number {
    return this.#table[this.#placeOf(words, at)]!;
  }

  /** Opens a trace at the end of the list without roots. There must be room. */
  open(words: Uint32Array, at: number, now: number): number {
    if (this.#free < 0) this.#grow();
    const slot = this.#free;
    this.#free = this.#after[slot]!;
    for (let w = 0; w < TRACE_WORDS; w++) this.ids[TRACE_WORDS * slot + w] = words[at + w]!;
    this.#table[this.#placeOf(words, at)] = slot;
    this.firstRow[slot] = NONE;
    this.spans[slot] = 0;
    this.seenAt[slot] = now;
    this.#push(slot, ROOTLESS);
    this.#size += 1;
    return slot;
  }

  listOf(slot: number): TraceList {
    return this.#list[slot] as TraceList;
  }

  /** To the end of a list, as of now. */
  move(slot: number, list: TraceList, now: number): void {
    this.#unlink(slot);
    this.seenAt[slot] = now;
    this.#push(slot, list);
  }

  /** The first of a list, -1 when it is empty. */
  oldest(list: TraceList): number {
    return this.#heads[list]!;
  }

  close(slot: number): void {
    this.#unlink(slot);
    this.#remove(slot);
    this.#after[slot] = this.#free;
    this.#free = slot;
    this.#size -= 1;
  }

  #push(slot: number, list: TraceList): void {
    const tail = this.#tails[list]!;
    this.#list[slot] = list;
    this.#before[slot] = tail;
    this.#after[slot] = NONE;
    if (tail >= 0) this.#after[tail] = slot;
    else this.#heads[list] = slot;
    this.#tails[list] = slot;
  }

  #unlink(slot: number): void {
    const list = this.#list[slot]!;
    const [before, after] = [this.#before[slot]!, this.#after[slot]!];
    if (before >= 0) this.#after[before] = after;
    else this.#heads[list] = after;
    if (after >= 0) this.#before[after] = before;
    else this.#tails[list] = before;
  }

  #placeOf(words: Uint32Array, at: number): number {
    let place = this.#hash.ofWords(words, at, TRACE_WORDS) & this.#mask;
    for (;;) {
      const slot = this.#table[place]!;
      if (slot < 0) return place;
      const id = TRACE_WORDS * slot;
      if (
        this.ids[id + 3] === words[at + 3] &&
        this.ids[id + 2] === words[at + 2] &&
        this.ids[id + 1] === words[at + 1] &&
        this.ids[id] === words[at]
      )
        return place;
      place = (place + 1) & this.#mask;
    }
  }

  /** Those behind a gap are moved up, so that a search never ends too early. */
  #remove(slot: number): void {
    let gap = this.#placeOf(this.ids, TRACE_WORDS * slot);
    let place = gap;
    for (;;) {
      place = (place + 1) & this.#mask;
      const other = this.#table[place]!;
      if (other < 0) break;
      const home = this.#hash.ofWords(this.ids, TRACE_WORDS * other, TRACE_WORDS) & this.#mask;
      if (((place - home) & this.#mask) >= ((place - gap) & this.#mask)) {
        this.#table[gap] = other;
        gap = place;
      }
    }
    this.#table[gap] = NONE;
  }

  #grow(): void {
    const old = this.spans.length;
    const capacity = Math.min(this.#most, 2 * old);
    this.ids = copied(this.ids, new Uint32Array(TRACE_WORDS * capacity));
    this.firstRow = copied(this.firstRow, new Int32Array(capacity));
    this.spans = copied(this.spans, new Int32Array(capacity));
    this.seenAt = copied(this.seenAt, new Float64Array(capacity));
    this.#list = copied(this.#list, new Uint8Array(capacity));
    this.#before = copied(this.#before, new Int32Array(capacity));
    this.#after = copied(this.#after, new Int32Array(capacity));
    this.#chainFree(old);
    this.#rehash();
  }

  #chainFree(from: number): void {
    for (let slot = this.spans.length - 1; slot >= from; slot--) {
      this.#after[slot] = this.#free;
      this.#free = slot;
    }
  }

  #rehash(): void {
    const places = 2 ** Math.ceil(Math.log2(2 * this.spans.length));
    this.#table = new Int32Array(places).fill(NONE);
    this.#mask = places - 1;
    for (const head of this.#heads) {
      for (let slot = head; slot >= 0; slot = this.#after[slot]!)
        this.#table[this.#placeOf(this.ids, TRACE_WORDS * slot)] = slot;
    }
  }
}

function copied<T extends { set(from: ArrayLike<number>): void } & ArrayLike<number>>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}
