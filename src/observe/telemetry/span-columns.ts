/**
 * Many spans, column by column: numbers in typed arrays, names as numbers, attributes as bytes that nobody read yet.
 * Owns: the columns, growing them, and one row as a `Span` and back.
 * Not here: who belongs to whom (trace-block.ts), decoding a wire format into rows (adapters/otlp).
 *
 * An object per span costs about ten times the memory and most of the time of a receiver; see bench/tracing.bench.ts.
 */
import type { NameTable } from "./name-table.ts";
import { SPAN_KINDS, SPAN_STATUSES, type Span } from "./span.ts";
import { decodeAttributes, encodeAttributes } from "./span-attributes.ts";
import { hexToWords, isNoId, SPAN_WORDS, TRACE_WORDS, wordsToHex } from "./span-ids.ts";

const TRACE = TRACE_WORDS;
const ID = SPAN_WORDS;
/** Words of one link: a trace id and a span id. */
export const LINK_WORDS = TRACE + ID;
const NO_BYTES = new Uint8Array(0);

/** The rows that a receiver fills, an assembler keeps, and a block of traces is made of. */
export class SpanColumns {
  readonly names: NameTable;
  length = 0;
  traceIds: Uint32Array;
  spanIds: Uint32Array;
  /** Zero where there is none. */
  parentIds: Uint32Array;
  startUs: Float64Array;
  endUs: Float64Array;
  /** Indices into SPAN_KINDS and SPAN_STATUSES. */
  kind: Uint8Array;
  status: Uint8Array;
  /** Ids in `names`. */
  service: Int32Array;
  instance: Int32Array;
  operation: Int32Array;
  /** Where a row's attributes lie in `attributeBytes`; equal where it has none. */
  attributesFrom: Uint32Array;
  attributesTo: Uint32Array;
  attributeBytes: Uint8Array = NO_BYTES;
  /** How much of `attributeBytes` is in use; a receiver lends the message's own bytes and uses none. */
  attributeLength = 0;
  /** LINK_WORDS words per link; few spans have any. */
  readonly links = new Map<number, Uint32Array>();

  constructor(names: NameTable, capacity = 64) {
    this.names = names;
    this.traceIds = new Uint32Array(TRACE * capacity);
    this.spanIds = new Uint32Array(ID * capacity);
    this.parentIds = new Uint32Array(ID * capacity);
    this.startUs = new Float64Array(capacity);
    this.endUs = new Float64Array(capacity);
    this.kind = new Uint8Array(capacity);
    this.status = new Uint8Array(capacity);
    this.service = new Int32Array(capacity);
    this.instance = new Int32Array(capacity);
    this.operation = new Int32Array(capacity);
    this.attributesFrom = new Uint32Array(capacity);
    this.attributesTo = new Uint32Array(capacity);
  }

  get capacity(): number {
    return this.startUs.length;
  }

  /** Bytes of all columns, as allocated. */
  get allocatedBytes(): number {
    return this.capacity * BYTES_PER_ROW + this.attributeBytes.byteLength;
  }

  /** Forgets the rows and keeps the memory. */
  clear(): void {
    this.length = 0;
    this.attributeLength = 0;
    this.links.clear();
  }

  /** Room for at least so many rows; doubles, so that adding one by one stays cheap. */
  reserve(capacity: number): void {
    if (capacity > this.capacity) this.resize(Math.max(capacity, 2 * this.capacity));
  }

  /** Exactly so many rows, no fewer than now. */
  resize(rows: number): void {
    this.traceIds = copied(this.traceIds, new Uint32Array(TRACE * rows));
    this.spanIds = copied(this.spanIds, new Uint32Array(ID * rows));
    this.parentIds = copied(this.parentIds, new Uint32Array(ID * rows));
    this.startUs = copied(this.startUs, new Float64Array(rows));
    this.endUs = copied(this.endUs, new Float64Array(rows));
    this.kind = copied(this.kind, new Uint8Array(rows));
    this.status = copied(this.status, new Uint8Array(rows));
    this.service = copied(this.service, new Int32Array(rows));
    this.instance = copied(this.instance, new Int32Array(rows));
    this.operation = copied(this.operation, new Int32Array(rows));
    this.attributesFrom = copied(this.attributesFrom, new Uint32Array(rows));
    this.attributesTo = copied(this.attributesTo, new Uint32Array(rows));
  }

  /** A row of another table, but for its trace id and the place of its attributes; names must be of the same table. */
  setRow(to: number, from: SpanColumns, row: number): void {
    this.spanIds[ID * to] = from.spanIds[ID * row]!;
    this.spanIds[ID * to + 1] = from.spanIds[ID * row + 1]!;
    this.parentIds[ID * to] = from.parentIds[ID * row]!;
    this.parentIds[ID * to + 1] = from.parentIds[ID * row + 1]!;
    this.startUs[to] = from.startUs[row]!;
    this.endUs[to] = from.endUs[row]!;
    this.kind[to] = from.kind[row]!;
    this.status[to] = from.status[row]!;
    this.service[to] = from.service[row]!;
    this.instance[to] = from.instance[row]!;
    this.operation[to] = from.operation[row]!;
    if (from.links.size > 0) {
      const links = from.links.get(row);
      if (links !== undefined) this.links.set(to, links);
    }
  }

  /** Copies attribute bytes to the end of this table's own and notes them for the row. */
  setAttributes(row: number, bytes: Uint8Array, range: { from: number; to: number }): void {
    const size = range.to - range.from;
    const at = this.attributeLength;
    if (size > 0) {
      if (at + size > this.attributeBytes.length) {
        const larger = new Uint8Array(Math.max(at + size, 2 * this.attributeBytes.length, 1_024));
        this.attributeBytes = copied(this.attributeBytes.subarray(0, at), larger);
      }
      this.attributeBytes.set(bytes.subarray(range.from, range.to), at);
      this.attributeLength = at + size;
    }
    this.attributesFrom[row] = at;
    this.attributesTo[row] = at + size;
  }

  /** False, and no row, when an id is none. */
  addSpan(span: Span): boolean {
    const row = this.length;
    this.reserve(row + 1);
    if (!idInto(this.traceIds, TRACE * row, { text: span.traceId, words: TRACE })) return false;
    if (!idInto(this.spanIds, ID * row, { text: span.spanId, words: ID })) return false;
    this.parentIds[ID * row] = 0;
    this.parentIds[ID * row + 1] = 0;
    if (span.parentId !== undefined && !hexToWords(span.parentId, this.parentIds, { at: ID * row, words: ID }))
      return false;
    this.length = row + 1;
    this.startUs[row] = span.startUs;
    this.endUs[row] = span.endUs;
    this.kind[row] = SPAN_KINDS.indexOf(span.kind);
    this.status[row] = SPAN_STATUSES.indexOf(span.status);
    this.service[row] = this.names.intern(span.service);
    this.instance[row] = this.names.intern(span.instance);
    this.operation[row] = this.names.intern(span.operation);
    const bytes = span.attributes === undefined ? NO_BYTES : encodeAttributes(span.attributes);
    this.setAttributes(row, bytes, { from: 0, to: bytes.length });
    if (span.links !== undefined && span.links.length > 0) {
      const words = new Uint32Array(LINK_WORDS * span.links.length);
      span.links.forEach((link, i) => {
        hexToWords(link.traceId, words, { at: LINK_WORDS * i, words: TRACE });
        hexToWords(link.spanId, words, { at: LINK_WORDS * i + TRACE, words: ID });
      });
      this.links.set(row, words);
    }
    return true;
  }

  spanAt(row: number): Span {
    const links = this.links.get(row);
    const [from, to] = [this.attributesFrom[row]!, this.attributesTo[row]!];
    return {
      traceId: wordsToHex(this.traceIds, { at: TRACE * row, words: TRACE }),
      spanId: wordsToHex(this.spanIds, { at: ID * row, words: ID }),
      ...(isNoId(this.parentIds, { at: ID * row, words: ID })
        ? {}
        : { parentId: wordsToHex(this.parentIds, { at: ID * row, words: ID }) }),
      service: this.names.text(this.service[row]!),
      instance: this.names.text(this.instance[row]!),
      operation: this.names.text(this.operation[row]!),
      kind: SPAN_KINDS[this.kind[row]!] ?? "internal",
      startUs: this.startUs[row]!,
      endUs: this.endUs[row]!,
      status: SPAN_STATUSES[this.status[row]!] ?? "unset",
      ...(links === undefined ? {} : { links: linksIn(links) }),
      ...(to > from ? { attributes: decodeAttributes(this.attributeBytes, from, to) } : {}),
    };
  }
}

const BYTES_PER_ROW = 4 * (TRACE + 2 * ID) + 16 + 2 + 12 + 8;

function idInto(into: Uint32Array, at: number, { text, words }: { text: string; words: number }): boolean {
  return hexToWords(text, into, { at, words }) && !isNoId(into, { at, words });
}

function linksIn(words: Uint32Array) {
  return Array.from({ length: words.length / LINK_WORDS }, (_, i) => ({
    traceId: wordsToHex(words, { at: LINK_WORDS * i, words: TRACE }),
    spanId: wordsToHex(words, { at: LINK_WORDS * i + TRACE, words: ID }),
  }));
}

function copied<T extends { set(from: ArrayLike<number>): void } & ArrayLike<number>>(old: T, fresh: T): T {
  fresh.set(old);
  return fresh;
}

export function spanColumnsOf(spans: Iterable<Span>, names: NameTable): SpanColumns {
  const columns = new SpanColumns(names);
  for (const span of spans) columns.addSpan(span);
  return columns;
}
