/**
 * OTLP's JSON to columns, in one pass over the bytes and without an object per span.
 * Owns: the way from the document to its spans, and what makes a span unusable. Not here: JSON itself and its limits
 * (json-reader.ts), a span's fields (json-fields.ts), protobuf (proto-decode.ts).
 *
 * The answer is that of JSON.parse and a walk over what it built, for every document: of keys that come twice the last one
 * counts, and a field of a type that it cannot have is none. docs/adr/0025-what-a-message-may-cost.md has the figures.
 */
import { isUtf8 } from "node:buffer";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import {
  AttributeEncoder,
  type NameTable,
  SPAN_KINDS,
  SPAN_WORDS,
  SpanColumns,
  SpanDrops,
  TRACE_WORDS,
} from "../../observe/telemetry/index.ts";
import {
  linksIn,
  readAttribute,
  readId,
  readKind,
  readMicroseconds,
  readParent,
  readStatus,
  sourceIn,
  UNSET,
} from "./json-fields.ts";
import {
  JsonError,
  JsonLimitError,
  JsonReader,
  keyTable,
  LIST,
  LIST_END,
  OBJECT,
  OBJECT_END,
  QUOTE,
} from "./json-reader.ts";
import { type ByteRange, byteRange } from "./json-text.ts";
import { type DecodeLimits, TooManySpans, tooDeep, tooMany } from "./limits.ts";
import type { DecodedSpans } from "./proto-decode.ts";

const REQUEST = keyTable("resourceSpans");
const RESOURCE_SPANS = keyTable("resource", "scopeSpans");
const SCOPE_SPANS = keyTable("spans");
const SPAN = keyTable(
  "traceId",
  "spanId",
  "parentSpanId",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "attributes",
  "status",
  "links",
);

const NO_NAME = byteRange();
/** Room for so many attribute bytes is kept from message to message. */
const MOST_KEPT_BYTES = 4 * 2 ** 20;

/** What was taken when an object began: of a list that comes twice in it the first is forgotten. */
interface Mark {
  rows: number;
  attributeBytes: number;
  invalidIds: number;
  invalidFields: number;
  negative: number;
}

const noMark = (): Mark => ({ rows: 0, attributeBytes: 0, invalidIds: 0, invalidFields: 0, negative: 0 });

export class OtlpJsonDecoder {
  readonly #names: NameTable;
  readonly #limits: DecodeLimits;
  readonly #reader: JsonReader;
  readonly #attributes = new AttributeEncoder();
  readonly #name = byteRange();
  #batch: SpanColumns;
  /** Spans that were dropped, and the rows, so far. */
  readonly #now = noMark();
  readonly #ofRequest = noMark();
  readonly #ofResource = noMark();
  readonly #ofScope = noMark();

  constructor(names: NameTable, limits: DecodeLimits) {
    this.#names = names;
    this.#limits = limits;
    this.#reader = new JsonReader(limits.json);
    this.#batch = new SpanColumns(names);
  }

  /** The spans of a message. The batch is filled again by the next call. */
  decode(message: Uint8Array): Result<DecodedSpans> {
    return this.#decode(message, { from: 0, isWhole: true });
  }

  /** The spans of the document that begins there, one of many; `end` says where it ends. */
  decodeNext(message: Uint8Array, from: number): Result<DecodedSpans> {
    return this.#decode(message, { from, isWhole: false });
  }

  #decode(message: Uint8Array, { from, isWhole }: { from: number; isWhole: boolean }): Result<DecodedSpans> {
    if (from === 0 && !isUtf8(message)) return err(NOT_UTF8);
    this.#clear();
    this.#reader.reset(message, from);
    try {
      const isRequest = this.#request();
      if (isWhole) this.#reader.end();
      if (!isRequest) return err(NOT_OTLP);
    } catch (thrown) {
      return err(jsonFailure(thrown));
    }
    this.#reader.space();
    const { invalidIds, invalidFields, negative } = this.#now;
    const drops = new SpanDrops();
    drops.add("invalid-id", invalidIds);
    drops.add("invalid-field", invalidFields);
    drops.add("negative-duration", negative);
    return ok({ batch: this.#batch, drops });
  }

  /** Where the next document begins, or the message ends. */
  get end(): number {
    return this.#reader.at;
  }

  #clear(): void {
    const { capacity, attributeBytes } = this.#batch;
    // One huge message must not hold its memory for ever.
    const isLarge = capacity > this.#limits.mostSpans || attributeBytes.length > MOST_KEPT_BYTES;
    if (isLarge) this.#batch = new SpanColumns(this.#names);
    this.#batch.clear();
    Object.assign(this.#now, noMark());
  }

  /** Whether it is an ExportTraceServiceRequest, or what a collector's file exporter writes, which is the same. */
  #request(): boolean {
    const reader = this.#reader;
    let isRequest = false;
    if (reader.peek() !== OBJECT) {
      reader.skip();
      return false;
    }
    for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
      if (reader.key(REQUEST) === 0) {
        this.#back(this.#ofRequest);
        isRequest = reader.peek() === LIST;
        this.#list(this.#resourceSpans);
      } else reader.skip();
    }
    return isRequest;
  }

  /** Objects of a list. What is none has no spans; where spans should be, it is one that cannot be used. */
  #list(read: (this: OtlpJsonDecoder) => void): void {
    const reader = this.#reader;
    if (reader.peek() !== LIST) {
      reader.skip();
      return;
    }
    for (let more = reader.open(); more; more = reader.next(LIST_END)) {
      if (reader.peek() === OBJECT) read.call(this);
      else {
        reader.skip();
        if (read === this.#span) this.#now.invalidFields += 1;
      }
    }
  }

  #resourceSpans(): void {
    const reader = this.#reader;
    this.#note(this.#ofResource);
    const { rows } = this.#ofResource;
    let from = 0;
    let to = 0;
    for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
      const field = reader.key(RESOURCE_SPANS);
      if (field === 0) {
        from = reader.at;
        reader.skipPart();
        to = reader.at;
      } else if (field === 1) {
        this.#back(this.#ofResource);
        this.#list(this.#scopeSpans);
      } else reader.skip();
    }
    // The resource may lie behind the spans it belongs to.
    const batch = this.#batch;
    if (batch.length === rows) return;
    const { service, instance } = sourceIn(to > from ? reader.plainAt(from, to) : undefined);
    batch.service.fill(this.#names.intern(service), rows, batch.length);
    batch.instance.fill(this.#names.intern(instance), rows, batch.length);
  }

  #scopeSpans(): void {
    const reader = this.#reader;
    this.#note(this.#ofScope);
    for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
      if (reader.key(SCOPE_SPANS) === 0) {
        this.#back(this.#ofScope);
        this.#list(this.#span);
      } else reader.skip();
    }
  }

  #span(): void {
    const reader = this.#reader;
    const batch = this.#batch;
    const row = batch.length;
    if (row >= this.#limits.mostSpans) throw new TooManySpans(this.#limits.mostSpans);
    batch.reserve(row + 1);
    batch.parentIds.fill(0, SPAN_WORDS * row, SPAN_WORDS * (row + 1));
    this.#attributes.clear();
    reader.clearTexts();
    let hasTrace = false;
    let hasId = false;
    let isParent = true;
    let name: ByteRange | undefined = NO_NAME;
    let kind = SPAN_KINDS.indexOf("internal");
    let start = Number.NaN;
    let end = Number.NaN;
    let status = UNSET;
    let links: Uint32Array | undefined;
    for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
      switch (reader.key(SPAN)) {
        case 0:
          hasTrace = readId(reader, batch.traceIds, { at: TRACE_WORDS * row, words: TRACE_WORDS });
          break;
        case 1:
          hasId = readId(reader, batch.spanIds, { at: SPAN_WORDS * row, words: SPAN_WORDS });
          break;
        case 2:
          isParent = readParent(reader, batch.parentIds, SPAN_WORDS * row);
          break;
        case 3: {
          const isText = reader.peek() === QUOTE;
          const other = isText ? reader.string() : reader.scalar();
          if (isText) reader.utf8(this.#name);
          // A name of null is none, and none is an empty one.
          name = isText ? this.#name : other === null ? NO_NAME : undefined;
          break;
        }
        case 4:
          kind = readKind(reader);
          break;
        case 5:
          start = readMicroseconds(reader);
          break;
        case 6:
          end = readMicroseconds(reader);
          break;
        case 7:
          this.#attributes.clear();
          this.#readAttributes();
          break;
        case 8:
          status = readStatus(reader);
          break;
        case 9:
          links = this.#readLinks();
          break;
        default:
          reader.skip();
      }
    }
    if (!(hasTrace && hasId && isParent)) this.#now.invalidIds += 1;
    else if (name === undefined || Number.isNaN(start) || Number.isNaN(end)) this.#now.invalidFields += 1;
    else if (end < start) this.#now.negative += 1;
    else {
      batch.startUs[row] = start;
      batch.endUs[row] = end;
      batch.kind[row] = kind;
      batch.status[row] = status;
      batch.operation[row] = this.#names.internBytes(name.bytes, name.from, name.to);
      batch.setAttributes(row, this.#attributes.bytes, { from: 0, to: this.#attributes.length });
      if (links !== undefined) batch.links.set(row, links);
      batch.length = row + 1;
    }
  }

  #readAttributes(): void {
    const reader = this.#reader;
    if (reader.peek() !== LIST) reader.skip();
    else for (let more = reader.open(); more; more = reader.next(LIST_END)) readAttribute(reader, this.#attributes);
  }

  #readLinks(): Uint32Array | undefined {
    const reader = this.#reader;
    const begin = reader.at;
    const { values, depth } = reader;
    // Many exporters write an empty list, which is not worth building.
    if (reader.peek() !== LIST) reader.skip();
    else if (reader.open()) {
      Object.assign(reader, { at: begin, values, depth });
      return linksIn(reader.plain());
    }
    return undefined;
  }

  #note(mark: Mark): void {
    mark.rows = this.#batch.length;
    mark.attributeBytes = this.#batch.attributeLength;
    mark.invalidIds = this.#now.invalidIds;
    mark.invalidFields = this.#now.invalidFields;
    mark.negative = this.#now.negative;
  }

  #back(mark: Mark): void {
    const batch = this.#batch;
    for (let row = mark.rows; row < batch.length && batch.links.size > 0; row++) batch.links.delete(row);
    batch.length = mark.rows;
    batch.attributeLength = mark.attributeBytes;
    this.#now.invalidIds = mark.invalidIds;
    this.#now.invalidFields = mark.invalidFields;
    this.#now.negative = mark.negative;
  }
}

const NOT_OTLP = failure(
  "otlp.not-otlp",
  "the JSON has no list 'resourceSpans': send an ExportTraceServiceRequest of OTLP",
);

export const NOT_UTF8 = failure(
  "otlp.not-json",
  "the body is not valid UTF-8, so it is not valid JSON: check the exporter or the file",
);

/** Of what a reader throws; a defect goes on. */
export function jsonFailure(thrown: unknown): Failure {
  if (thrown instanceof JsonLimitError) return thrown.isDepth ? tooDeep(thrown.message) : tooMany(thrown.message);
  if (thrown instanceof TooManySpans) return tooMany(thrown.message);
  if (!(thrown instanceof JsonError)) throw thrown;
  return failure("otlp.not-json", `the body is not valid JSON (${thrown.message}): check the exporter or the file`);
}
