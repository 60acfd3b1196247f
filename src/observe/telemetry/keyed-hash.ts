/**
 * Hashes under a secret key, for tables whose keys strangers choose.
 * Owns: the key and the two hashes, of bytes and of words. Not here: where chance comes from (a port, `FillRandom`), tables.
 *
 * Whoever knows a hash can send a million keys of one slot, and a table becomes a list. Sums of the parts with secret
 * multipliers are universal (Dietzfelbinger 1996; Lemire and Kaser 2014, "multilinear"): of parts of u bits in 32-bit sums,
 * the top 33 - u bits of any two keys are alike no more often than chance has it, whatever the keys are. One
 * multiplication for each part, none of which waits for another, costs what FNV-1a did.
 */

/** Fills with bits that nobody outside can guess. */
export type FillRandom = (into: Uint32Array) => void;

/** Bytes that are hashed; tables cut or compare what is longer. */
export const LONGEST_HASHED = 256;
const MOST_WORDS = 4;

export class KeyedHash {
  readonly #ofBytes = new Uint32Array(LONGEST_HASHED + 1);
  /** Two multipliers for each half of a word. */
  readonly #ofWords = new Uint32Array(4 * MOST_WORDS);

  /** Without `fill` the key is the same for everybody: for keys that come from no stranger. */
  constructor(fill: FillRandom = fixed) {
    fill(this.#ofBytes);
    fill(this.#ofWords);
  }

  /** 24 bits of up to `LONGEST_HASHED` bytes. */
  ofBytes(bytes: Uint8Array, from: number, end: number): number {
    const key = this.#ofBytes;
    let sum = key[LONGEST_HASHED] as number;
    // One more than the byte: a zero at the end must not be the same as none.
    for (let i = from, k = 0; i < end; i++, k++)
      sum = (sum + Math.imul((bytes[i] as number) + 1, key[k] as number)) | 0;
    return sum >>> 8;
  }

  /** 32 bits of up to four words; keys of one table have the same number of them. */
  ofWords(words: Uint32Array, at: number, count: number): number {
    let sum = 0;
    let other = 0;
    for (let w = 0; w < count; w++) {
      const word = words[at + w] as number;
      const key = 4 * w;
      sum = (sum + this.#product(word, key)) | 0;
      other = (other + this.#product(word, key + 2)) | 0;
    }
    return (sum & 0xffff0000) | (other >>> 16);
  }

  #product(word: number, key: number): number {
    const low = Math.imul(word & 0xffff, this.#ofWords[key] as number);
    return (low + Math.imul(word >>> 16, this.#ofWords[key + 1] as number)) | 0;
  }
}

/** Well spread, and no secret (splitmix32). */
function fixed(into: Uint32Array): void {
  for (let k = 0; k < into.length; k++) {
    let mixed = Math.imul(k + 1, 0x9e3779b9);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    into[k] = mixed ^ (mixed >>> 15);
  }
}
