/**
 * A span: the time one request spent in one operation of one service instance (dissertation 3.2.1).
 * Owns: the shape in which spans are exchanged between a world, an importer and whoever asks for one trace.
 * Not here: the columns in which a receiver and the assembler hold many of them (span-columns.ts), decoding (adapters/otlp).
 */

/** OpenTelemetry's kinds. A producer does not wait for its consumer; a client waits for its server. */
export const SPAN_KINDS = ["internal", "server", "client", "producer", "consumer"] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

export const SPAN_STATUSES = ["unset", "ok", "error"] as const;
export type SpanStatus = (typeof SPAN_STATUSES)[number];

/** Another span that this one says it was caused by, besides its parent: fan-in, batches, retries. */
export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

export type SpanAttribute = string | number | boolean | readonly (string | number | boolean)[];

export interface Span {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero; unique within its trace. */
  readonly spanId: string;
  /** Not there for the root, which is the request as its client sees it. */
  readonly parentId?: string;
  readonly service: string;
  /** The pod or container; the service's name where nobody said. */
  readonly instance: string;
  readonly operation: string;
  readonly kind: SpanKind;
  /** Microseconds since the Unix epoch by the clock of the span's own host. */
  readonly startUs: number;
  /** Not before `startUs`. */
  readonly endUs: number;
  readonly status: SpanStatus;
  readonly links?: readonly SpanLink[];
  readonly attributes?: Readonly<Record<string, SpanAttribute>>;
}
