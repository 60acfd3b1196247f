/**
 * From the body of a request to the sink, whatever it came over.
 * Owns: which format is read how, and the counts of what came and what became of it.
 * Not here: sockets, sizes and compression (http-receiver.ts, grpc-receiver.ts), what the sink does.
 */
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import { type SpanDropReason, SpanDrops, type SpanSink } from "../../observe/telemetry/index.ts";
import { decodeJaegerJson } from "./jaeger.ts";
import { decodeOtlpJson } from "./json-decode.ts";
import { parsedJson, textOf } from "./plain-value.ts";
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

const JSON_DECODERS = {
  "otlp-json": decodeOtlpJson,
  "jaeger-json": decodeJaegerJson,
  "zipkin-json": decodeZipkinJson,
} as const;

export class SpanIntake {
  readonly #sink: SpanSink;
  readonly #proto: OtlpProtoDecoder;
  readonly #drops = new SpanDrops();
  readonly #refused = new Map<string, number>();
  #requests = 0;
  #spans = 0;

  constructor(sink: SpanSink) {
    this.#sink = sink;
    this.#proto = new OtlpProtoDecoder(sink.names);
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
    return this.#offer(decodeSpans(body, { format, decoder: this.#proto, names: this.#sink.names }));
  }

  /** Of gRPC, which has taken the message apart already. */
  takeParts(resourceSpans: readonly Uint8Array[]): Result<Taken> {
    return this.#offer(this.#proto.decodeParts(resourceSpans));
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

export function decodeSpans(
  body: Uint8Array,
  { format, decoder, names }: { format: SpanFormat; decoder: OtlpProtoDecoder; names: SpanSink["names"] },
): Result<DecodedSpans> {
  if (format === "otlp-proto") return decoder.decode(body);
  const text = textOf(body);
  if (text === undefined)
    return err(failure("otlp.not-json", "the body is no UTF-8, so it is no JSON: check the exporter or the file"));
  const parsed = parsedJson(text);
  if ("problem" in parsed)
    return err(failure("otlp.not-json", `the body is no JSON (${parsed.problem}): check the exporter or the file`));
  return JSON_DECODERS[format](parsed.value, names);
}
