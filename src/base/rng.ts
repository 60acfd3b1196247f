/**
 * Seeded random numbers that split.
 * A stream is named by its seed and the labels on the way to it, never by how much another stream has drawn,
 * so a new consumer does not shift anybody's draws. The state is plain data and continues exactly where it was.
 * The generator is xoshiro128** 1.1 (Blackman and Vigna, 2018): 32-bit integers only, so every engine agrees on every bit.
 */

export interface RngState {
  /** Identity of the stream: what forks derive from. */
  readonly key: readonly [number, number, number, number];
  readonly words: readonly [number, number, number, number];
  /** The second normal of a pair, waiting to be handed out. */
  readonly spare: number | null;
}

export interface Rng {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform integer in [0, 2³²). */
  uint32(): number;
  /** Uniform integer in [0, bound). */
  int(bound: number): number;
  /** Standard normal. */
  normal(): number;
  /** A stream of its own that depends on this stream's identity and the label, not on draws so far. */
  fork(label: string | number): Rng;
  /** Restoring it with `restoreRng` continues the very same stream. */
  state(): RngState;
}

export function seededRng(seed: number): Rng {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`a seed is a whole number up to 2^53, got ${seed}`);
  const low = seed >>> 0;
  const high = Math.floor(seed / 2 ** 32) >>> 0;
  return new Xoshiro128(hash128(`${high}:${low}`, [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a]));
}

export function restoreRng(state: RngState): Rng {
  const rng = new Xoshiro128(state.key);
  rng.restore(state);
  return rng;
}

type Words = readonly [number, number, number, number];

class Xoshiro128 implements Rng {
  readonly #key: Words;
  #s0: number;
  #s1: number;
  #s2: number;
  #s3: number;
  /** NaN where there is none: a field that is always a number is kept as one. */
  #spare = Number.NaN;

  constructor(key: Words) {
    this.#key = key;
    // The key names the stream; the words it starts from are a further mix of it, so that a fork's key and a
    // parent's draws have nothing in common. All zero is the one state the generator cannot leave.
    const start = hash128("start", key);
    this.#s0 = start[0] | 0;
    this.#s1 = start[1] | 0;
    this.#s2 = start[2] | 0;
    this.#s3 = start[3] | 0 || 1;
  }

  restore(state: RngState): void {
    [this.#s0, this.#s1, this.#s2, this.#s3] = state.words;
    this.#spare = state.spare ?? Number.NaN;
  }

  uint32(): number {
    const scrambled = Math.imul(rotl(Math.imul(this.#s1, 5), 7), 9);
    const t = this.#s1 << 9;
    this.#s2 ^= this.#s0;
    this.#s3 ^= this.#s1;
    this.#s1 ^= this.#s2;
    this.#s0 ^= this.#s3;
    this.#s2 ^= t;
    this.#s3 = rotl(this.#s3, 11);
    return scrambled >>> 0;
  }

  next(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67_108_864 + low) / 9_007_199_254_740_992;
  }

  int(bound: number): number {
    if (!(Number.isInteger(bound) && bound > 0 && bound <= 2 ** 32)) {
      throw new RangeError(`a random integer needs a whole bound from 1 to 2^32, got ${bound}`);
    }
    // Reject the incomplete last block of multiples, so that every value is equally likely.
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let draw = this.uint32();
    while (draw >= limit) draw = this.uint32();
    return draw % bound;
  }

  normal(): number {
    const spare = this.#spare;
    if (!Number.isNaN(spare)) {
      this.#spare = Number.NaN;
      return spare;
    }
    // Marsaglia's polar method: only log and sqrt, no trigonometry.
    for (;;) {
      const u = 2 * this.next() - 1;
      const v = 2 * this.next() - 1;
      const s = u * u + v * v;
      if (s === 0 || s >= 1) continue;
      const scale = Math.sqrt((-2 * Math.log(s)) / s);
      this.#spare = v * scale;
      return u * scale;
    }
  }

  fork(label: string | number): Rng {
    return new Xoshiro128(hash128(`/${label}`, this.#key));
  }

  state(): RngState {
    return {
      key: this.#key,
      words: [this.#s0, this.#s1, this.#s2, this.#s3],
      spare: Number.isNaN(this.#spare) ? null : this.#spare,
    };
  }
}

function rotl(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

/** 128 bits from a text and a key: four lanes of multiply and xor over UTF-16 units, then MurmurHash3's finaliser. */
function hash128(text: string, key: Words): Words {
  let a = key[0];
  let b = key[1];
  let c = key[2];
  let d = key[3];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ unit, 0x9e3779b1);
    b = c ^ Math.imul(b ^ unit, 0x85ebca77);
    c = d ^ Math.imul(c ^ unit, 0xc2b2ae3d);
    d = a ^ Math.imul(d ^ unit, 0x27d4eb2f);
  }
  a = finish(a ^ (b >>> 3) ^ text.length);
  b = finish(b ^ a);
  c = finish(c ^ b);
  d = finish(d ^ c);
  return [finish(a ^ d), b, c, d];
}

function finish(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
