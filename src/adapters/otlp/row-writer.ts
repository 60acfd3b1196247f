/**
 * One span of a JSON format into the columns, checked the same way for all of them.
 * Owns: what makes a span unusable, with its reason. Not here: which field means what (json-decode, jaeger, zipkin).
 */
import {
  AttributeEncoder,
  hexToWords,
  isNoId,
  LINK_WORDS,
  type NameTable,
  SPAN_KINDS,
  SPAN_STATUSES,
  SPAN_WORDS,
  SpanColumns,
  SpanDrops,
  type SpanKind,
  type SpanStatus,
  TRACE_WORDS,
} from "../../observe/telemetry/index.ts";
import type { DecodedSpans } from "./proto-decode.ts";

export interface RawSpan {
  /** Hexadecimal of any length up to the id's own. */
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Undefined or empty for the root. */
  readonly parentId: string | undefined;
  readonly service: string;
  readonly instance: string;
  readonly operation: string | undefined;
  readonly kind: SpanKind;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
  readonly status: SpanStatus;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

const MOST_LINKS = 32;

export class RowWriter {
  readonly #batch: SpanColumns;
  readonly #drops = new SpanDrops();
  /** Of the span that is added next; empty again after it. */
  readonly attributes = new AttributeEncoder();

  constructor(names: NameTable) {
    this.#batch = new SpanColumns(names);
  }

  get result(): DecodedSpans {
    return { batch: this.#batch, drops: this.#drops };
  }

  drop(reason: Parameters<SpanDrops["add"]>[0]): void {
    this.#drops.add(reason);
  }

  add(span: RawSpan): void {
    const row = this.#batch.length;
    this.#batch.reserve(row + 1);
    const { operation, startUs, endUs } = span;
    if (!this.#hasIds(span, row)) this.drop("invalid-id");
    else if (operation === undefined || startUs === undefined || endUs === undefined) this.drop("invalid-field");
    else if (endUs < startUs) this.drop("negative-duration");
    else {
      this.#batch.startUs[row] = startUs;
      this.#batch.endUs[row] = endUs;
      this.#batch.operation[row] = this.#batch.names.intern(operation);
      this.#fill(row, span);
    }
    this.attributes.clear();
  }

  #hasIds({ traceId, spanId, parentId }: RawSpan, row: number): boolean {
    const { traceIds, spanIds } = this.#batch;
    return (
      isId(traceId, traceIds, { at: TRACE_WORDS * row, words: TRACE_WORDS }) &&
      isId(spanId, spanIds, { at: SPAN_WORDS * row, words: SPAN_WORDS }) &&
      this.#parent(parentId, row)
    );
  }

  #fill(row: number, span: RawSpan): void {
    const batch = this.#batch;
    batch.length = row + 1;
    batch.kind[row] = SPAN_KINDS.indexOf(span.kind);
    batch.status[row] = SPAN_STATUSES.indexOf(span.status);
    batch.service[row] = batch.names.intern(span.service);
    batch.instance[row] = batch.names.intern(span.instance);
    batch.setAttributes(row, this.attributes.bytes, { from: 0, to: this.attributes.length });
    const links = linkWords(span.links ?? []);
    if (links !== undefined) batch.links.set(row, links);
  }

  #parent(text: string | undefined, row: number): boolean {
    const place = { at: SPAN_WORDS * row, words: SPAN_WORDS };
    this.#batch.parentIds.fill(0, place.at, place.at + SPAN_WORDS);
    return text === undefined || text === "" || hexToWords(text, this.#batch.parentIds, place);
  }
}

/** LINK_WORDS words for each link that has both ids; undefined when none has. */
export function linkWords(links: NonNullable<RawSpan["links"]>): Uint32Array | undefined {
  const words = new Uint32Array(LINK_WORDS * Math.min(links.length, MOST_LINKS));
  let count = 0;
  for (const { traceId, spanId } of links.slice(0, MOST_LINKS)) {
    const at = LINK_WORDS * count;
    const isLink =
      isId(traceId, words, { at, words: TRACE_WORDS }) &&
      isId(spanId, words, { at: at + TRACE_WORDS, words: SPAN_WORDS });
    if (isLink) count += 1;
  }
  return count > 0 ? words.slice(0, LINK_WORDS * count) : undefined;
}

function isId(text: string | undefined, into: Uint32Array, place: { at: number; words: number }): boolean {
  return text !== undefined && hexToWords(text, into, place) && !isNoId(into, place);
}
