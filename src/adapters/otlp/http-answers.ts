/**
 * What the HTTP receiver answers.
 * Owns: a failure's status, and the bodies: OTLP wants its own messages in the encoding of the request, as protobuf
 * (ExportTraceServiceResponse, google.rpc.Status) or JSON; Zipkin wants 202 and nothing.
 */
import type { Failure } from "../../base/index.ts";
import type { SpanFormat, Taken } from "./intake.ts";

export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

const utf8 = new TextEncoder();
const JSON_TYPE = "application/json";
const PROTO_TYPE = "application/x-protobuf";

const STATUSES = new Map<string, number>([
  ["otlp.path", 404],
  ["otlp.method", 405],
  ["otlp.token-missing", 401],
  ["otlp.host", 403],
  ["otlp.origin", 403],
  ["otlp.content-type", 415],
  ["otlp.content-encoding", 415],
  ["otlp.too-large", 413],
  ["otlp.too-many", 413],
  ["otlp.busy", 503],
  ["otlp.defect", 500],
]);

export function successAnswer(format: SpanFormat, { unused, why }: Taken): Answer {
  if (format === "zipkin-json") return { status: 202 };
  if (format !== "otlp-proto") {
    const partial = unused > 0 ? { partialSuccess: { rejectedSpans: String(unused), errorMessage: why } } : {};
    return { status: 200, contentType: JSON_TYPE, body: utf8.encode(JSON.stringify(partial)) };
  }
  return { status: 200, contentType: PROTO_TYPE, body: unused > 0 ? partialSuccess(unused, why) : new Uint8Array(0) };
}

export function failureAnswer(problem: Failure, format: SpanFormat | undefined, retryAfter: number): Answer {
  const status = STATUSES.get(problem.code) ?? 400;
  const headers = {
    ...(status === 405 ? { allow: "POST" } : {}),
    ...(status === 503 ? { "retry-after": String(retryAfter) } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  };
  if (format === "otlp-proto")
    return {
      status,
      headers,
      contentType: PROTO_TYPE,
      body: Uint8Array.from(field(0x12, utf8.encode(problem.message))),
    };
  const document = { code: problem.code, message: problem.message };
  return { status, headers, contentType: JSON_TYPE, body: utf8.encode(JSON.stringify(document)) };
}

/** ExportTraceServiceResponse.partial_success: rejected_spans = 1, error_message = 2. */
export function partialSuccess(rejected: number, why: string): Uint8Array {
  const inner = [0x08, ...varint(rejected), ...field(0x12, utf8.encode(why))];
  return Uint8Array.from(field(0x0a, inner));
}

function field(tag: number, bytes: ArrayLike<number>): number[] {
  return [tag, ...varint(bytes.length), ...Array.from(bytes)];
}

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128);
  out.push(rest);
  return out;
}
