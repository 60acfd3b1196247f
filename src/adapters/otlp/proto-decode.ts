/**
 * OTLP's protobuf to columns, in one pass over the bytes and without an object per span.
 * Owns: the fields of ExportTraceServiceRequest that we read, and what makes a span unusable.
 * Not here: the wire format (wire-reader.ts), JSON (json-decode.ts), what becomes of the rows (SpanSink).
 *
 * Bytes that are no protobuf refuse the whole message; a span that protobuf can read and nobody can use is dropped with a
 * reason, and the others are taken. Attributes are not read: the columns point at them in the message itself.
 */
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import { LINK_WORDS, type NameTable, SpanColumns, SpanDrops } from "../../observe/telemetry/index.ts";
import { type DecodeLimits, fileLimits, TooManySpans, tooMany } from "./limits.ts";
import { ResourceReader, type SpanSource } from "./proto-resource.ts";
import { WireError, WireLimitError, WireReader } from "./wire-reader.ts";

export interface DecodedSpans {
  readonly batch: SpanColumns;
  readonly drops: SpanDrops;
}

/** Room for so many spans is kept from message to message, and more only by whoever has no limit on them. */
const MOST_KEPT_ROWS = 65_536;
/** More links than this on one span are not kept. */
const MOST_LINKS = 32;

/** Field number and wire type in one byte, as they lie in the message. */
const TAG = {
  resourceSpans: 0x0a,
  resource: 0x0a,
  scopeSpans: 0x12,
  span: 0x12,
  statusCode: 0x18,
} as const;

export class OtlpProtoDecoder {
  readonly #names: NameTable;
  readonly #reader: WireReader;
  readonly #mostSpans: number;
  #batch: SpanColumns;
  #drops = new SpanDrops();
  readonly #resources: ResourceReader;
  #source: SpanSource;

  /** Without limits for messages of our own, and for files that somebody chose. */
  constructor(
    names: NameTable,
    { mostSpans, mostFields }: Pick<DecodeLimits, "mostSpans" | "mostFields"> = fileLimits,
  ) {
    this.#names = names;
    this.#mostSpans = mostSpans;
    this.#reader = new WireReader(mostFields);
    this.#batch = new SpanColumns(names, 1_024);
    this.#resources = new ResourceReader(names);
    this.#source = this.#resources.unknown;
  }

  /** The spans of a message. The batch lends the message's bytes and is filled again by the next call. */
  decode(message: Uint8Array): Result<DecodedSpans> {
    return this.#reading(message, (reader) => {
      while (reader.at < message.length) {
        const tag = reader.tag(message.length);
        if (tag === TAG.resourceSpans) this.#resourceSpans(reader.endOfField(message.length));
        else reader.skip(tag, message.length);
      }
    });
  }

  #reading(bytes: Uint8Array, read: (reader: WireReader) => void): Result<DecodedSpans> {
    this.#reader.reset(bytes);
    // One huge message must not hold its memory for ever.
    if (this.#batch.capacity > MOST_KEPT_ROWS) this.#batch = new SpanColumns(this.#names, 1_024);
    this.#batch.clear();
    this.#batch.attributeBytes = bytes;
    this.#drops = new SpanDrops();
    try {
      read(this.#reader);
      return ok({ batch: this.#batch, drops: this.#drops });
    } catch (thrown) {
      return err(malformed(thrown));
    }
  }

  #resourceSpans(end: number): void {
    const reader = this.#reader;
    const begin = reader.at;
    this.#source = this.#resources.unknown;
    // The resource may lie behind the spans it belongs to: fields have no order.
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TAG.resource) this.#source = this.#resources.read(reader, reader.endOfField(end));
      else reader.skip(tag, end);
    }
    reader.at = begin;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TAG.scopeSpans) this.#scopeSpans(reader.endOfField(end));
      else reader.skip(tag, end);
    }
  }

  #scopeSpans(end: number): void {
    const reader = this.#reader;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TAG.span) this.#span(reader.endOfField(end));
      else reader.skip(tag, end);
    }
  }

  #span(end: number): void {
    const reader = this.#reader;
    const batch = this.#batch;
    const row = batch.length;
    if (row >= this.#mostSpans) throw new TooManySpans(this.#mostSpans);
    batch.reserve(row + 1);
    const { traceIds, spanIds, parentIds } = batch;
    let isBad = false;
    let hasTrace = false;
    let hasId = false;
    let operation = 0;
    let kind = 0;
    let status = 0;
    let start = 0;
    let stop = 0;
    let attributesFrom = 0;
    let attributesTo = 0;
    let links: Uint32Array | undefined;
    let linkCount = 0;
    parentIds[2 * row] = 0;
    parentIds[2 * row + 1] = 0;
    while (reader.at < end) {
      const tagAt = reader.at;
      const tag = reader.tag(end);
      switch (tag) {
        case 0x0a: {
          hasTrace = this.#id(end, { into: traceIds, at: 4 * row, words: 4 });
          break;
        }
        case 0x12: {
          hasId = this.#id(end, { into: spanIds, at: 2 * row, words: 2 });
          break;
        }
        case 0x22: {
          // Eight zeros, or none, is no parent; another length is an error.
          const length = reader.bytes[reader.at]!;
          const isParent = this.#id(end, { into: parentIds, at: 2 * row, words: 2 });
          if (!isParent && length !== 0 && length !== 8) isBad = true;
          break;
        }
        case 0x2a: {
          const to = reader.endOfField(end);
          operation = this.#names.internBytes(reader.bytes, reader.at, to);
          reader.at = to;
          break;
        }
        case 0x30:
          kind = reader.varint(end);
          break;
        case 0x39:
          start = reader.microseconds(end);
          break;
        case 0x41:
          stop = reader.microseconds(end);
          break;
        case 0x4a:
          reader.at = reader.endOfField(end);
          if (attributesTo === 0) attributesFrom = tagAt;
          attributesTo = reader.at;
          break;
        case 0x6a: {
          links ??= new Uint32Array(LINK_WORDS * MOST_LINKS);
          if (this.#link(reader.endOfField(end), links, linkCount)) linkCount += 1;
          break;
        }
        case 0x7a:
          status = this.#status(reader.endOfField(end));
          break;
        default:
          reader.skip(tag, end);
      }
    }
    if (!hasTrace || !hasId || isBad || operation < 0 || stop < start) {
      const isIdBad = !hasTrace || !hasId || isBad;
      this.#drops.add(isIdBad ? "invalid-id" : operation < 0 ? "invalid-field" : "negative-duration");
      return;
    }
    batch.startUs[row] = start;
    batch.endUs[row] = stop;
    batch.kind[row] = kind >= 1 && kind <= 5 ? kind - 1 : 0;
    batch.status[row] = status <= 2 ? status : 0;
    batch.service[row] = this.#source.service;
    batch.instance[row] = this.#source.instance;
    batch.operation[row] = operation;
    batch.attributesFrom[row] = attributesFrom;
    batch.attributesTo[row] = attributesTo;
    if (linkCount > 0 && links !== undefined) batch.links.set(row, links.slice(0, LINK_WORDS * linkCount));
    batch.length = row + 1;
  }

  /** Reads an id of exactly that many words; false for another length and for all zeros. */
  #id(end: number, { into, at, words }: { into: Uint32Array; at: number; words: number }): boolean {
    const reader = this.#reader;
    const to = reader.endOfField(end);
    const from = reader.at;
    reader.at = to;
    if (to - from !== 4 * words) return false;
    let any = 0;
    for (let w = 0; w < words; w++) {
      const word = reader.word(from + 4 * w);
      into[at + w] = word;
      any |= word;
    }
    return any !== 0;
  }

  #link(end: number, into: Uint32Array, count: number): boolean {
    const reader = this.#reader;
    let found = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      const at = LINK_WORDS * count;
      if (tag === 0x0a && count < MOST_LINKS) found += this.#id(end, { into, at, words: 4 }) ? 1 : 0;
      else if (tag === 0x12 && count < MOST_LINKS) found += this.#id(end, { into, at: at + 4, words: 2 }) ? 1 : 0;
      else reader.skip(tag, end);
    }
    return found === 2;
  }

  #status(end: number): number {
    const reader = this.#reader;
    let code = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TAG.statusCode) code = reader.varint(end);
      else reader.skip(tag, end);
    }
    return code;
  }
}

function malformed(thrown: unknown): Failure {
  if (thrown instanceof WireLimitError || thrown instanceof TooManySpans) return tooMany(thrown.message);
  if (!(thrown instanceof WireError)) throw thrown;
  return failure(
    "otlp.malformed",
    `the message ${thrown.message} (byte ${thrown.at}): send an ExportTraceServiceRequest as protobuf, whole and uncompressed or with its Content-Encoding`,
  );
}
