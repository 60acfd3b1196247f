/**
 * Protobuf's wire format, as far as OTLP needs it.
 * Owns: varints, lengths and skipping, with every bound checked. Not here: which field means what (proto-decode.ts).
 *
 * A library is not used because generated code makes an object per message and a string per name: see
 * docs/adr/0019-spans-in-columns.md for the figures.
 */

/** Thrown for bytes that are no protobuf; caught where a message was begun. */
export class WireError extends Error {
  readonly at: number;

  constructor(what: string, at: number) {
    super(what);
    this.at = at;
  }
}

/** Thrown for a message that has more fields than it may. */
export class WireLimitError extends Error {}

export class WireReader {
  readonly #mostFields: number;
  #fields = 0;
  bytes: Uint8Array = new Uint8Array(0);
  /** The next byte. */
  at = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));

  constructor(mostFields = Number.POSITIVE_INFINITY) {
    this.#mostFields = mostFields;
  }

  reset(bytes: Uint8Array): void {
    this.#fields = 0;
    this.bytes = bytes;
    this.at = 0;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Of the next field. They are counted: one that says nothing has two bytes, and costs as much time as any. */
  tag(end: number): number {
    this.#fields += 1;
    if (this.#fields > this.#mostFields) throw new WireLimitError(`has more than ${this.#mostFields} fields`);
    return this.varint(end);
  }

  /** A varint below 2³²; larger ones are read and cut, as protobuf says for 32-bit fields. */
  varint(end: number): number {
    const bytes = this.bytes;
    let byte = this.#byte(end);
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = bytes[this.at]!;
      if (this.at >= end) throw new WireError("ends within a number", this.at);
      this.at += 1;
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw new WireError("has a number of more than ten bytes", this.at);
  }

  /** Where a length-delimited field ends; it begins at `at`. */
  endOfField(end: number): number {
    const length = this.varint(end);
    const to = this.at + length;
    if (to > end) throw new WireError("has a field that is longer than what it lies in", this.at);
    return to;
  }

  /**
   * A fixed64 of nanoseconds as microseconds. Whole ones are exact; a quarter of one is the step of a double today. The
   * product is taken apart (2³² = 4,294,967 · 1,000 + 296) because nanoseconds since 1970 do not fit into a double.
   */
  microseconds(end: number): number {
    if (this.at + 8 > end) throw new WireError("ends within a time", this.at);
    const low = this.#view.getUint32(this.at, true);
    const high = this.#view.getUint32(this.at + 4, true);
    this.at += 8;
    return high * 4_294_967 + (high * 296 + low) / 1_000;
  }

  /** A big-endian word, as ids are written. */
  word(at: number): number {
    return this.#view.getUint32(at, false);
  }

  /** Jumps over the field whose tag was just read. Groups are as old as protobuf 1 and not part of OTLP. */
  skip(tag: number, end: number): void {
    if (tag >>> 3 === 0) throw new WireError("has a field without a number", this.at);
    switch (tag & 7) {
      case 0:
        this.varint(end);
        return;
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.endOfField(end);
        return;
      case 5:
        this.at += 4;
        break;
      default:
        throw new WireError(`has a field of the unknown kind ${tag & 7}`, this.at);
    }
    if (this.at > end) throw new WireError("ends within a field", end);
  }

  #byte(end: number): number {
    if (this.at >= end) throw new WireError("ends too early", this.at);
    return this.bytes[this.at++]!;
  }
}
