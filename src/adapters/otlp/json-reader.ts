/**
 * JSON of a stranger, token by token over its bytes, with a bound on what it may cost.
 * Owns: the grammar (RFC 8259, as strict as JSON.parse), depth, the count of values. Not here: which key means what
 * (json-decode.ts), that the bytes are UTF-8 (whoever has them asks once for all of them).
 *
 * JSON.parse builds all values before anybody can say no: 64 KB of gzip were 21 million objects and 2 GB. This reader builds
 * nothing by itself, counts what it passes, and stops at the first value too many or too deep. The parts that are rare in
 * practice are given to JSON.parse after all (`plain`), one at a time and counted first.
 */

import { BACKSLASH, type ByteRange, byteRange, LETTER_U, NINE, UNESCAPED, unescaped, ZERO } from "./json-text.ts";

export interface JsonLimits {
  readonly deepest: number;
  /** Objects, lists and scalars of a document, and more for each that is built. */
  readonly mostValues: number;
  /** Values of one part that is built. */
  readonly mostBuilt: number;
}

/** What making a string, and JSON.parse on a part, cost besides: about so many values could be passed in the time. */
const TEXT = 8;
const BUILDING = 64;
const MOST_KEPT_SCRATCH = 2 ** 20;

/** Thrown for bytes that are not JSON; caught where a document was begun. */
export class JsonError extends Error {}

/** Thrown for JSON that costs more than it may. */
export class JsonLimitError extends Error {
  readonly isDepth: boolean;

  constructor(what: string, isDepth: boolean) {
    super(what);
    this.isDepth = isDepth;
  }
}

export const QUOTE = 0x22;
export const LIST = 0x5b;
export const LIST_END = 0x5d;
export const OBJECT = 0x7b;
export const OBJECT_END = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;

const LITERALS = new Map<number, { readonly bytes: Uint8Array; readonly value: boolean | null }>(
  [true, false, null].map((value) => {
    const bytes = new TextEncoder().encode(String(value));
    return [bytes[0]!, { bytes, value }];
  }),
);

/** Names that a reader looks for; their places are what `key` answers. */
export const keyTable = (...names: readonly string[]): readonly Uint8Array[] =>
  names.map((name) => new TextEncoder().encode(name));

export class JsonReader {
  readonly #limits: JsonLimits;
  readonly #key = byteRange();
  bytes: Uint8Array = new Uint8Array(0);
  #text: Buffer = Buffer.alloc(0);
  /** The next byte. */
  at = 0;
  /** Where the string or number that was read last lies, without quotes. */
  from = 0;
  to = 0;
  /** Whether that string has escapes, so that its bytes are not yet its text. */
  isEscaped = false;
  /** Texts without their escapes, one after the other until it is cleared. */
  #scratch = new Uint8Array(1_024);
  #scratchAt = 0;
  /** Passed so far, and lists and objects that are open. Both are set back by whoever goes back. */
  values = 0;
  depth = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Stands at the document's first token afterwards. */
  reset(bytes: Uint8Array, at = 0): void {
    this.bytes = bytes;
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
    this.values = 0;
    this.depth = 0;
    this.#scratchAt = 0;
    // One huge text must not hold its memory for ever.
    if (this.#scratch.length > MOST_KEPT_SCRATCH) this.#scratch = new Uint8Array(1_024);
    // A mark of the byte order, as TextDecoder takes it away.
    if (at === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3;
    this.space();
  }

  /** The byte that a value begins with, which says of what kind it is. */
  peek(): number {
    return this.at < this.bytes.length ? this.bytes[this.at]! : -1;
  }

  /** Jumps over white space; the byte after it, -1 at the end. */
  space(): number {
    const bytes = this.bytes;
    for (; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at]!;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return byte;
    }
    return -1;
  }

  /** Steps into the list or object that begins here; false when it has nothing in it, and it is behind us. */
  open(): boolean {
    this.#count();
    // Both ends are two after their beginnings.
    const end = this.bytes[this.at]! + 2;
    this.depth += 1;
    if (this.depth > this.#limits.deepest)
      throw new JsonLimitError(`is nested deeper than ${this.#limits.deepest} levels`, true);
    this.at += 1;
    if (this.space() !== end) return true;
    this.at += 1;
    this.depth -= 1;
    return false;
  }

  /** After an item: whether there is one more, and then it is next. */
  next(end: typeof LIST_END | typeof OBJECT_END): boolean {
    const byte = this.space();
    if (byte === COMMA) {
      this.at += 1;
      this.space();
      return true;
    }
    if (byte !== end) throw this.#unexpected();
    this.at += 1;
    this.depth -= 1;
    return false;
  }

  /** The place of the key in the table, -1 when it is not there; its value is next. */
  key(table: readonly Uint8Array[]): number {
    this.#string();
    const kept = this.#scratchAt;
    this.utf8(this.#key);
    this.#scratchAt = kept;
    const { bytes, from, to } = this.#key;
    if (this.space() !== COLON) throw this.#unexpected();
    this.at += 1;
    this.space();
    for (let k = 0; k < table.length; k++) {
      const name = table[k]!;
      if (name.length !== to - from) continue;
      let i = 0;
      while (i < name.length && name[i] === bytes[from + i]) i++;
      if (i === name.length) return k;
    }
    return -1;
  }

  string(): void {
    this.#count();
    this.#string();
  }

  /** Where the UTF-8 of the string that was read last lies: in the document, or without its escapes in memory of ours. */
  utf8(range: ByteRange): void {
    range.bytes = this.bytes;
    range.from = this.from;
    range.to = this.to;
    if (this.isEscaped) this.#unescape(range);
  }

  /** What `utf8` answered is no longer needed. */
  clearTexts(): void {
    this.#scratchAt = 0;
  }

  /** The text of the string that was read last. */
  text(): string {
    this.values += this.isEscaped ? BUILDING : TEXT;
    if (!this.isEscaped) return this.#text.toString("utf8", this.from, this.to);
    return JSON.parse(this.#text.toString("utf8", this.from - 1, this.to + 1)) as string;
  }

  number(): number {
    this.#count();
    this.#number();
    return this.digits() ?? Number(this.#text.toString("latin1", this.from, this.to));
  }

  /** The whole number that the string or number read last is; undefined for anything but one to fifteen digits. */
  digits(): number | undefined {
    const { bytes, from, to } = this;
    if (to === from || to - from > 15) return undefined;
    let value = 0;
    for (let i = from; i < to; i++) {
      const digit = bytes[i]! - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      value = 10 * value + digit;
    }
    return value;
  }

  /** A string, number, boolean or null; undefined for a list or an object, which is passed. */
  scalar(): string | number | boolean | null | undefined {
    const byte = this.peek();
    if (byte === QUOTE) {
      this.string();
      return this.text();
    }
    if (byte === OBJECT || byte === LIST) {
      this.skip();
      return undefined;
    }
    if (byte === MINUS || (byte >= ZERO && byte <= NINE)) return this.number();
    this.#count();
    return this.#literal();
  }

  skip(): void {
    const byte = this.peek();
    if (byte === QUOTE) this.string();
    else if (byte === OBJECT) {
      for (let more = this.open(); more; more = this.next(OBJECT_END)) {
        this.#string();
        if (this.space() !== COLON) throw this.#unexpected();
        this.at += 1;
        this.space();
        this.skip();
      }
    } else if (byte === LIST) {
      for (let more = this.open(); more; more = this.next(LIST_END)) this.skip();
    } else {
      this.#count();
      if (byte === MINUS || (byte >= ZERO && byte <= NINE)) this.#number();
      else this.#literal();
    }
  }

  /** The value that begins here, built; counted first. */
  plain(): unknown {
    const { at } = this;
    this.skipPart();
    return this.plainAt(at, this.at);
  }

  /** Passes a value that may be built later. */
  skipPart(): void {
    const before = this.values;
    this.skip();
    if (this.values - before > this.#limits.mostBuilt)
      throw new JsonLimitError(`has a part of more than ${this.#limits.mostBuilt} values`, false);
  }

  /** What `skipPart` passed, built now. */
  plainAt(from: number, to: number): unknown {
    this.values += BUILDING;
    return JSON.parse(this.#text.toString("utf8", from, to)) as unknown;
  }

  /** Nothing but white space may follow a document. */
  end(): void {
    if (this.space() >= 0) throw this.#unexpected();
  }

  #count(): void {
    this.values += 1;
    if (this.values > this.#limits.mostValues)
      throw new JsonLimitError(`has more than ${this.#limits.mostValues} values`, false);
  }

  #string(): void {
    const bytes = this.bytes;
    // An imported name is looked up each time, and this is the loop over nearly all bytes.
    const backslash = BACKSLASH;
    if (this.peek() !== QUOTE) throw this.#unexpected();
    let at = this.at + 1;
    this.from = at;
    this.isEscaped = false;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.to = at;
        this.at = at + 1;
        return;
      }
      if (byte < 0x20) break;
      if (byte === backslash) {
        this.isEscaped = true;
        this.at = at + 1;
        at = this.#escape(at + 1);
      }
    }
    this.at = at;
    throw this.#unexpected();
  }

  /** The last byte of the escape whose letter is at `at`. */
  #escape(at: number): number {
    const letter = this.bytes[at];
    if (letter === undefined) throw this.#unexpected();
    if (letter !== LETTER_U) {
      if (UNESCAPED[letter] === 0) throw this.#unexpected();
      return at;
    }
    for (let k = at + 1; k <= at + 4; k++) {
      const byte = this.bytes[k] ?? 0;
      const low = byte | 0x20;
      if (!((byte >= ZERO && byte <= NINE) || (low >= 0x61 && low <= 0x66))) {
        this.at = Math.min(k, this.bytes.length);
        throw this.#unexpected();
      }
    }
    return at + 4;
  }

  #unescape(range: ByteRange): void {
    const begin = this.#scratchAt;
    // No escape is shorter than what it stands for.
    const need = begin + this.to - this.from;
    if (need > this.#scratch.length) {
      const larger = new Uint8Array(2 * need);
      larger.set(this.#scratch.subarray(0, begin));
      this.#scratch = larger;
    }
    this.#scratchAt = unescaped(range, this.#scratch, begin);
    range.bytes = this.#scratch;
    range.from = begin;
    range.to = this.#scratchAt;
  }

  #number(): void {
    this.from = this.at;
    if (this.peek() === MINUS) this.at += 1;
    // A zero in front stands alone.
    if (this.peek() === ZERO) this.at += 1;
    else this.#digits();
    if (this.peek() === DOT) {
      this.at += 1;
      this.#digits();
    }
    if ((this.peek() | 0x20) === 0x65) {
      this.at += 1;
      if (this.peek() === PLUS || this.peek() === MINUS) this.at += 1;
      this.#digits();
    }
    this.to = this.at;
  }

  /** At least one. */
  #digits(): void {
    const bytes = this.bytes;
    const from = this.at;
    while (this.at < bytes.length && bytes[this.at]! >= ZERO && bytes[this.at]! <= NINE) this.at += 1;
    if (this.at === from) throw this.#unexpected();
  }

  #literal(): boolean | null {
    const found = LITERALS.get(this.peek());
    if (found === undefined) throw this.#unexpected();
    for (const byte of found.bytes) {
      if (this.peek() !== byte) throw this.#unexpected();
      this.at += 1;
    }
    return found.value;
  }

  #unexpected(): JsonError {
    const byte = this.peek();
    if (byte < 0) return new JsonError("it ends too early");
    const shown = byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `the byte ${byte}`;
    return new JsonError(`${shown} at byte ${this.at} is not expected`);
  }
}
