/**
 * Names of services, instances and operations as small numbers.
 * Owns: interning from bytes without making a string, the bound on how many names there are, what happens beyond it.
 *
 * A million spans have a few hundred names; comparing numbers is what keeps assembly fast and memory small. A program that
 * puts an identifier into its operation names would fill any table: beyond the bound a name becomes `(other)`, counted.
 * Names come from strangers, so the table's hash has a key (keyed-hash.ts); the tables of their ids use the same one.
 */
import { type FillRandom, KeyedHash, LONGEST_HASHED } from "./keyed-hash.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** A longer name is cut here; nobody reads it, and a table of a million of them is no table. */
const LONGEST = LONGEST_HASHED;

export interface NameTableOptions {
  /** 65,536 unless said. */
  readonly most?: number;
  /** For the key of the hash; needed where names come from strangers. */
  readonly random?: FillRandom | undefined;
}

export class NameTable {
  /** The name of everything that came after the table was full. */
  static readonly OTHER = 0;
  /** What `internBytes` answers for bytes that are no UTF-8. */
  static readonly INVALID = -1;

  readonly #most: number;
  readonly #texts: string[] = [];
  readonly hash: KeyedHash;
  /** The bytes of a text that is looked for; a few more than are kept, so that the cut is made in one place. */
  readonly #scratch = new Uint8Array(LONGEST + 4);
  /** Open addressing over the hash of the bytes; -1 is free. */
  #slots = new Int32Array(256).fill(-1);
  #hashes = new Int32Array(128);
  #begins = new Uint32Array(129);
  #bytes = new Uint8Array(4_096);
  #known = 0;
  #folded = 0;

  constructor({ most = 65_536, random }: NameTableOptions = {}) {
    this.#most = most;
    this.hash = new KeyedHash(random);
    this.intern("(other)");
  }

  get size(): number {
    return this.#texts.length;
  }

  /** How often a new name was called `(other)` because the table was full. */
  get folded(): number {
    return this.#folded;
  }

  text(id: number): string {
    return this.#texts[id] ?? "(other)";
  }

  intern(text: string): number {
    const { written } = encoder.encodeInto(text, this.#scratch);
    return this.internBytes(this.#scratch, 0, written);
  }

  /** The id of the name in these bytes; `INVALID` when they are no UTF-8. */
  internBytes(bytes: Uint8Array, from: number, to: number): number {
    let end = to;
    if (end - from > LONGEST) end = cutAt(bytes, from + LONGEST);
    const hash = this.hash.ofBytes(bytes, from, end);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const id = this.#slots[slot] as number;
      if (id < 0) return this.#add({ bytes, from, end, hash, slot });
      if (this.#hashes[id] === hash && this.#equals(id, { bytes, from, end })) return id;
      slot = (slot + 1) & mask;
    }
  }

  #equals(id: number, { bytes, from, end }: { bytes: Uint8Array; from: number; end: number }): boolean {
    const begin = this.#begins[id] as number;
    if ((this.#begins[id + 1] as number) - begin !== end - from) return false;
    for (let i = from, k = begin; i < end; i++, k++) if (bytes[i] !== this.#bytes[k]) return false;
    return true;
  }

  #add({ bytes, from, end, hash, slot }: NewName): number {
    if (this.#known >= this.#most) {
      this.#folded += 1;
      return NameTable.OTHER;
    }
    let text: string;
    try {
      text = decoder.decode(bytes.subarray(from, end));
    } catch {
      return NameTable.INVALID;
    }
    const id = this.#known++;
    this.#room(end - from);
    const begin = this.#begins[id] as number;
    this.#bytes.set(bytes.subarray(from, end), begin);
    this.#begins[id + 1] = begin + end - from;
    this.#hashes[id] = hash;
    this.#slots[slot] = id;
    this.#texts.push(text);
    if (this.#known * 2 > this.#slots.length) this.#rehash();
    return id;
  }

  #room(bytes: number): void {
    if (this.#known >= this.#hashes.length) {
      this.#hashes = grown(this.#hashes, new Int32Array(this.#hashes.length * 2));
      this.#begins = grown(this.#begins, new Uint32Array(this.#hashes.length + 1));
    }
    const need = (this.#begins[this.#known - 1] as number) + bytes;
    if (need > this.#bytes.length) {
      this.#bytes = grown(this.#bytes, new Uint8Array(Math.max(need, this.#bytes.length * 2)));
    }
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.#known; id++) {
      let slot = (this.#hashes[id] as number) & mask;
      while ((this.#slots[slot] as number) >= 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id;
    }
  }
}

interface NewName {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly end: number;
  readonly hash: number;
  readonly slot: number;
}

/** Not in the middle of a character: continuation bytes begin with 10. */
function cutAt(bytes: Uint8Array, at: number): number {
  let cut = at;
  while (cut > at - 4 && ((bytes[cut] as number) & 0xc0) === 0x80) cut -= 1;
  return cut;
}

function grown<T extends { set(from: ArrayLike<number>): void } & ArrayLike<number>>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}
