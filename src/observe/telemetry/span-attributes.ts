/**
 * Attributes of a span as bytes, read only when somebody asks.
 * Owns: the encoding (OTLP's own: a run of `Span.attributes` fields, so that what a receiver got is kept as it is) both
 * ways. Not here: the other fields of a span (adapters/otlp).
 *
 * A reader that is not asked for attributes skips them by their length; most spans are never asked.
 */
import type { SpanAttribute } from "./span.ts";

/** `Span.attributes` in OTLP. */
const ATTRIBUTES = 9;
/** Lists within lists within lists: deeper than this nobody means it, and recursion must end. */
const DEEPEST = 8;

const lenient = new TextDecoder("utf-8");
const encoder = new TextEncoder();

/** The attributes in a run of span fields; fields that are none are skipped. What cannot be read ends the reading. */
export function decodeAttributes(bytes: Uint8Array, from: number, to: number): Record<string, SpanAttribute> {
  const found: Record<string, SpanAttribute> = {};
  const reader = new Reader(bytes, from, to);
  while (reader.next()) {
    if (reader.field !== ATTRIBUTES || reader.wire !== 2) continue;
    const pair = reader.inner();
    let key = "";
    let value: SpanAttribute | undefined;
    while (pair.next()) {
      if (pair.field === 1 && pair.wire === 2) key = pair.text();
      else if (pair.field === 2 && pair.wire === 2) value = valueIn(pair.inner(), 0);
    }
    // A plain property, whatever its name is: "__proto__" is a name like any other.
    if (value !== undefined) Object.defineProperty(found, key, { value, ...PLAIN });
  }
  return found;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

function valueIn(reader: Reader, depth: number): SpanAttribute | undefined {
  let value: SpanAttribute | undefined;
  while (reader.next()) {
    if (reader.field === 1 && reader.wire === 2) value = reader.text();
    else if (reader.field === 2 && reader.wire === 0) value = reader.low !== 0 || reader.high !== 0;
    else if (reader.field === 3 && reader.wire === 0) value = reader.signed();
    else if (reader.field === 4 && reader.wire === 1) value = reader.double();
    else if (reader.field === 5 && reader.wire === 2 && depth < DEEPEST) value = listIn(reader.inner(), depth + 1);
    else if (reader.field === 7 && reader.wire === 2) value = `${reader.to - reader.from} bytes`;
  }
  return value;
}

function listIn(reader: Reader, depth: number): readonly (string | number | boolean)[] {
  const items: (string | number | boolean)[] = [];
  while (reader.next()) {
    if (reader.field !== 1 || reader.wire !== 2) continue;
    const item = valueIn(reader.inner(), depth);
    if (item !== undefined) items.push(typeof item === "object" ? JSON.stringify(item) : item);
  }
  return items;
}

/** One field after the other; ends where the bytes do, or where they make no sense. */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  field = 0;
  wire = 0;
  /** Where the payload of a length-delimited or fixed field lies. */
  from = 0;
  to = 0;
  /** A varint's two halves. */
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = Math.min(to, bytes.length);
  }

  next(): boolean {
    if (this.#at >= this.#end || !this.#varint() || this.high !== 0) return false;
    this.field = this.low >>> 3;
    this.wire = this.low & 7;
    if (this.wire === 0) return this.#varint();
    if (this.wire === 2) {
      if (!this.#varint() || this.high !== 0) return false;
      return this.#take(this.low >>> 0);
    }
    return this.wire === 1 ? this.#take(8) : this.wire === 5 && this.#take(4);
  }

  inner(): Reader {
    return new Reader(this.#bytes, this.from, this.to);
  }

  text(): string {
    return lenient.decode(this.#bytes.subarray(this.from, this.to));
  }

  double(): number {
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.from, 8).getFloat64(0, true);
  }

  signed(): number {
    return (this.high | 0) * 2 ** 32 + (this.low >>> 0);
  }

  #take(length: number): boolean {
    this.from = this.#at;
    this.to = this.#at + length;
    this.#at = this.to;
    return this.to <= this.#end;
  }

  #varint(): boolean {
    this.low = 0;
    this.high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) return false;
      const byte = this.#bytes[this.#at++] as number;
      const bits = byte & 127;
      if (shift < 28) this.low |= bits << shift;
      else if (shift === 28) {
        this.low |= bits << 28;
        this.high |= bits >>> 4;
      } else if (shift < 63) this.high |= bits << (shift - 32);
      else this.high |= (bits & 1) << 31;
      if (byte < 128) {
        this.low >>>= 0;
        this.high >>>= 0;
        return true;
      }
    }
    return false;
  }
}

/** The same encoding from values, for spans that did not come as OTLP. */
export function encodeAttributes(attributes: Readonly<Record<string, SpanAttribute>>): Uint8Array {
  const encoder = new AttributeEncoder();
  for (const [key, value] of Object.entries(attributes)) encoder.add(key, value);
  return encoder.bytes.slice(0, encoder.length);
}

/** Writes attributes one after the other, into memory that is used again after `clear`. */
export class AttributeEncoder {
  readonly #writer = new Writer();

  /** Of these, the first `length` are in use. */
  get bytes(): Uint8Array {
    return this.#writer.bytes;
  }

  get length(): number {
    return this.#writer.at;
  }

  clear(): void {
    this.#writer.at = 0;
  }

  add(key: string, value: SpanAttribute): void {
    const writer = this.#writer;
    const pair = writer.begin((ATTRIBUTES << 3) | 2);
    writer.text(0x0a, key);
    const inner = writer.begin(0x12);
    writer.value(value);
    writer.end(inner);
    writer.end(pair);
  }

  /** The same of a key, and of a value that is a text too, whose UTF-8 lies in somebody's bytes. */
  addBytes(key: Utf8Range, value: Utf8Range | number | boolean): void {
    const writer = this.#writer;
    const pair = writer.begin((ATTRIBUTES << 3) | 2);
    writer.copy(0x0a, key);
    const inner = writer.begin(0x12);
    if (typeof value === "object") writer.copy(0x0a, value);
    else writer.value(value);
    writer.end(inner);
    writer.end(pair);
  }
}

interface Utf8Range {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

class Writer {
  bytes = new Uint8Array(256);
  at = 0;

  value(value: SpanAttribute): void {
    if (typeof value === "string") this.text(0x0a, value);
    else if (typeof value === "boolean") {
      this.#room(2);
      this.bytes[this.at++] = 0x10;
      this.bytes[this.at++] = value ? 1 : 0;
    } else if (typeof value === "number") this.#number(value);
    else {
      const list = this.begin(0x2a);
      for (const item of value) {
        const inner = this.begin(0x0a);
        this.value(item);
        this.end(inner);
      }
      this.end(list);
    }
  }

  text(tag: number, text: string): void {
    const start = this.begin(tag);
    this.#room(3 * text.length);
    let k = 0;
    // Nearly all names and values are plain letters; an encoder's call costs more than they do.
    for (let code = text.charCodeAt(0); k < text.length && code < 128; code = text.charCodeAt(k)) {
      this.bytes[this.at + k] = code;
      k += 1;
    }
    if (k === text.length) this.at += k;
    else this.at += encoder.encodeInto(text, this.bytes.subarray(this.at)).written;
    this.end(start);
  }

  copy(tag: number, { bytes, from, to }: Utf8Range): void {
    const start = this.begin(tag);
    this.#room(to - from);
    // Nearly all are short: making a view of each costs more than its bytes.
    if (to - from > 64) this.bytes.set(bytes.subarray(from, to), this.at);
    else for (let i = from, k = this.at; i < to; i++, k++) this.bytes[k] = bytes[i] as number;
    this.at += to - from;
    this.end(start);
  }

  /** A field of a length that is not known yet: a byte is left for it. */
  begin(tag: number): number {
    this.#room(2);
    this.bytes[this.at] = tag;
    this.at += 2;
    return this.at;
  }

  /** Writes the length before the field; a long one moves it. */
  end(start: number): void {
    const size = this.at - start;
    if (size < 128) {
      this.bytes[start - 1] = size;
      return;
    }
    let more = 0;
    for (let rest = size >>> 7; rest > 0; rest >>>= 7) more += 1;
    this.#room(more);
    this.bytes.copyWithin(start + more, start, this.at);
    this.at += more;
    let rest = size;
    for (let k = start - 1; k < start + more; k++, rest >>>= 7)
      this.bytes[k] = k === start + more - 1 ? rest : (rest & 127) | 128;
  }

  #number(value: number): void {
    this.#room(11);
    if (!Number.isSafeInteger(value)) {
      this.bytes[this.at] = 0x21;
      new DataView(this.bytes.buffer).setFloat64(this.at + 1, value, true);
      this.at += 9;
      return;
    }
    this.bytes[this.at++] = 0x18;
    if (value >= 0) {
      let rest = value;
      for (; rest > 127; rest = Math.floor(rest / 128)) this.bytes[this.at++] = (rest % 128) | 128;
      this.bytes[this.at++] = rest;
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.bytes[this.at++] = Number(rest & 127n) | 128;
    this.bytes[this.at++] = Number(rest);
  }

  #room(more: number): void {
    if (this.at + more <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.at + more));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}
