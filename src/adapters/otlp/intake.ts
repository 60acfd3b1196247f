/**
 * From the body of a request to the sink, whatever it came over.
 * Owns: which format is read how, and the counts of what came and what became of it.
 * Not here: sockets, sizes and compression (http-receiver.ts, grpc-receiver.ts), what the sink does.
 */
import { isUtf8 } from "node:buffer";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import { type NameTable, type SpanDropReason, SpanDrops, type SpanSink } from "../../observe/telemetry/index.ts";
import { decodeJaegerJson } from "./jaeger.ts";
import { jsonFailure, NOT_UTF8, OtlpJsonDecoder } from "./json-decode.ts";
import { JsonReader } from "./json-reader.ts";
import { type DecodeLimits, receiverLimits, tooMany } from "./limits.ts";
import { type DecodedSpans, OtlpProtoDecoder } from "./proto-decode.ts";
import { decodeZipkinJson } from "./zipkin.ts";

export type SpanFormat = "otlp-proto" | "otlp-json" | "jaeger-json" | "zipkin-json";

export interface Taken {
  readonly spans: number;
  /** Not used, of these; for the answer's partial success. */
  readonly unused: number;
  readonly why: string;
}

export interface IntakeCounts {
  readonly requests: number;
  /** Spans that were decoded and given to the sink. */
  readonly spans: number;
  /** Requests that were refused, by the failure's code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Spans that could not be used as they came. What the sink leaves out is the sink's to count. */
  readonly dropped: Readonly<Record<SpanDropReason, number>>;
}

export class SpanIntake {
  readonly #sink: SpanSink;
  readonly #decoder: SpanDecoder;
  readonly #drops = new SpanDrops();
  readonly #refused = new Map<string, number>();
  #requests = 0;
  #spans = 0;

  constructor(sink: SpanSink) {
    this.#sink = sink;
    this.#decoder = new SpanDecoder(sink.names, receiverLimits);
  }

  counts(): IntakeCounts {
    return {
      requests: this.#requests,
      spans: this.#spans,
      refused: Object.fromEntries(this.#refused),
      dropped: this.#drops.counts(),
    };
  }

  take(body: Uint8Array, format: SpanFormat): Result<Taken> {
    return this.#offer(this.#decoder.decode(body, format));
  }

  /** Counts a request that never came to be decoded. */
  refuse(why: Failure): Failure {
    this.#requests += 1;
    this.#refused.set(why.code, (this.#refused.get(why.code) ?? 0) + 1);
    return why;
  }

  #offer(decoded: Result<DecodedSpans>): Result<Taken> {
    if (!decoded.ok) return err(this.refuse(decoded.failure));
    const { batch, drops } = decoded.value;
    const offer = this.#sink.offer(batch);
    if (offer.kind === "busy") {
      const seconds = Math.max(1, Math.ceil(offer.retryAfter / 1_000));
      const text = `there is no room for more spans now: send them again in ${seconds} s`;
      return err(this.refuse({ ...failure("otlp.busy", text, { retry: true }), cause: seconds }));
    }
    this.#requests += 1;
    this.#spans += batch.length;
    this.#drops.merge(drops);
    return ok({
      spans: batch.length + drops.total,
      unused: drops.total + offer.unused,
      why: [drops.sentence(), offer.why].filter((text) => text !== "").join(", "),
    });
  }
}

/** Seconds to wait, of an `otlp.busy`. */
export const retryAfterOf = ({ cause }: Failure): number => (typeof cause === "number" ? cause : 1);

/** The spans in a message of any format, within limits. What it answers is filled again by the next call. */
export class SpanDecoder {
  readonly #names: NameTable;
  readonly #limits: DecodeLimits;
  readonly #proto: OtlpProtoDecoder;
  readonly #json: OtlpJsonDecoder;

  constructor(names: NameTable, limits: DecodeLimits) {
    this.#names = names;
    this.#limits = limits;
    this.#proto = new OtlpProtoDecoder(names, limits);
    this.#json = new OtlpJsonDecoder(names, limits);
  }

  decode(body: Uint8Array, format: SpanFormat): Result<DecodedSpans> {
    switch (format) {
      case "otlp-proto":
        return this.#proto.decode(body);
      case "otlp-json":
        return this.#json.decode(body);
      case "jaeger-json":
        return this.#built(body, decodeJaegerJson);
      case "zipkin-json":
        return this.#built(body, decodeZipkinJson);
    }
  }

  /** Formats of others: their documents are built as a whole, so they are counted first, and may have fewer values. */
  #built(body: Uint8Array, decode: typeof decodeJaegerJson): Result<DecodedSpans> {
    if (!isUtf8(body)) return err(NOT_UTF8);
    const { deepest } = this.#limits.json;
    const { mostBuilt, mostSpans } = this.#limits;
    const reader = new JsonReader({ deepest, mostValues: mostBuilt, mostBuilt });
    let document: unknown;
    try {
      reader.reset(body);
      const from = reader.at;
      reader.skip();
      const to = reader.at;
      reader.end();
      document = reader.plainAt(from, to);
    } catch (thrown) {
      return err(jsonFailure(thrown));
    }
    const decoded = decode(document, this.#names);
    if (decoded.ok && decoded.value.batch.length > mostSpans) return err(tooMany(`has more than ${mostSpans} spans`));
    return decoded;
  }
}
