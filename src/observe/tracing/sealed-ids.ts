/**
 * Which traces were sealed lately, so that a span that comes after is known to be late.
 * Two generations of a fixed size: when the newer one is full, the older one is forgotten. At least `most` ids are
 * remembered, at most twice as many. Of an id 64 bits are kept; two traces that share them are not to be expected.
 */
import type { KeyedHash } from "../telemetry/index.ts";

export class SealedIds {
  readonly #most: number;
  readonly #hash: KeyedHash;
  /** The two halves that are looked for. */
  readonly #pair = new Uint32Array(2);
  #newer = new Uint32Array(2 * SMALLEST);
  #older = new Uint32Array(2 * SMALLEST);
  #count = 0;

  constructor(most: number, hash: KeyedHash) {
    this.#most = most;
    this.#hash = hash;
  }

  get allocatedBytes(): number {
    return this.#newer.byteLength + this.#older.byteLength;
  }

  add(words: Uint32Array, at: number): void {
    if (this.#count >= this.#most) {
      this.#older = this.#newer;
      this.#newer = new Uint32Array(this.#older.length);
      this.#count = 0;
    }
    // At most half full: 4 words for each id that is kept.
    if (4 * (this.#count + 1) > this.#newer.length) this.#grow();
    this.#put(highOf(words, at), lowOf(words, at));
  }

  has(words: Uint32Array, at: number): boolean {
    const high = highOf(words, at);
    const low = lowOf(words, at);
    return this.#isIn(this.#newer, high, low) || this.#isIn(this.#older, high, low);
  }

  #put(high: number, low: number): void {
    const slot = this.#slotOf(this.#newer, high, low);
    if (this.#newer[slot] === 0 && this.#newer[slot + 1] === 0) this.#count += 1;
    this.#newer[slot] = high;
    this.#newer[slot + 1] = low;
  }

  #grow(): void {
    const old = this.#newer;
    this.#newer = new Uint32Array(2 * old.length);
    this.#count = 0;
    for (let slot = 0; slot < old.length; slot += 2)
      if (old[slot] !== 0 || old[slot + 1] !== 0) this.#put(old[slot]!, old[slot + 1]!);
  }

  /** Where the pair is, or would be put; zeros mark a free slot. */
  #slotOf(table: Uint32Array, high: number, low: number): number {
    const mask = table.length / 2 - 1;
    this.#pair[0] = high;
    this.#pair[1] = low;
    let slot = this.#hash.ofWords(this.#pair, 0, 2) & mask;
    for (;;) {
      const h = table[2 * slot];
      const l = table[2 * slot + 1];
      if ((h === high && l === low) || (h === 0 && l === 0)) return 2 * slot;
      slot = (slot + 1) & mask;
    }
  }

  #isIn(table: Uint32Array, high: number, low: number): boolean {
    const slot = this.#slotOf(table, high, low);
    return table[slot] === high && table[slot + 1] === low;
  }
}

/** Slots of a new table. */
const SMALLEST = 256;

/** Both halves of an id take part, each word in its own way: 64-bit ids have zeros in the first half. */
const highOf = (words: Uint32Array, at: number): number => (words[at + 2]! ^ Math.imul(words[at]!, 0x85ebca77)) >>> 0;

/** Never zero together with the high half, which would look like a free slot. */
function lowOf(words: Uint32Array, at: number): number {
  const low = (words[at + 3]! ^ Math.imul(words[at + 1]!, 0xc2b2ae3d)) >>> 0;
  return low === 0 && highOf(words, at) === 0 ? 1 : low;
}
