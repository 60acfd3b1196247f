/**
 * OTLP's JSON to columns in the plain way, JSON.parse and a walk over what it built: how the receiver did it before.
 * The peer of `bench tracing`, and what the decoder's own tests are compared with: both must find the same spans.
 */

import { listIn, numberIn, objectIn, type PlainObject, textIn } from "../../src/adapters/otlp/plain-value.ts";
import type { DecodedSpans } from "../../src/adapters/otlp/proto-decode.ts";
import { instanceOf, SERVICE_KEY, UNKNOWN_SERVICE } from "../../src/adapters/otlp/resource-names.ts";
import { RowWriter } from "../../src/adapters/otlp/row-writer.ts";
import { err, failure, ok, type Result } from "../../src/base/index.ts";
import type { NameTable, SpanAttribute, SpanKind, SpanStatus } from "../../src/observe/telemetry/index.ts";

/** Numbers by the specification, names by protobuf's own JSON, which some exporters use. */
const KINDS = new Map<unknown, SpanKind>([
  [2, "server"],
  [3, "client"],
  [4, "producer"],
  [5, "consumer"],
  ["SPAN_KIND_SERVER", "server"],
  ["SPAN_KIND_CLIENT", "client"],
  ["SPAN_KIND_PRODUCER", "producer"],
  ["SPAN_KIND_CONSUMER", "consumer"],
]);
const STATUSES = new Map<unknown, SpanStatus>([
  [1, "ok"],
  [2, "error"],
  ["STATUS_CODE_OK", "ok"],
  ["STATUS_CODE_ERROR", "error"],
]);

/** A parsed ExportTraceServiceRequest, or what a collector's file exporter writes, which is the same. */
export function decodeParsedOtlp(document: unknown, names: NameTable): Result<DecodedSpans> {
  const request = objectIn(document);
  if (request === undefined || !Array.isArray(request.resourceSpans)) {
    return err(
      failure("otlp.not-otlp", "the JSON has no list 'resourceSpans': send an ExportTraceServiceRequest of OTLP"),
    );
  }
  const writer = new RowWriter(names);
  for (const item of request.resourceSpans) {
    const resourceSpans = objectIn(item);
    const resource = new Map(pairsIn(objectIn(resourceSpans?.resource)?.attributes));
    const text = (key: string): string | undefined => textIn(resource.get(key));
    const service = text(SERVICE_KEY) ?? UNKNOWN_SERVICE;
    const from = { service, instance: instanceOf(text, service) };
    for (const scope of listIn(resourceSpans?.scopeSpans)) {
      for (const item of listIn(objectIn(scope)?.spans)) {
        const span = objectIn(item);
        if (span === undefined) writer.drop("invalid-field");
        else addSpan(writer, span, from);
      }
    }
  }
  return ok(writer.result);
}

function addSpan(
  writer: RowWriter,
  span: PlainObject,
  from: { readonly service: string; readonly instance: string },
): void {
  for (const [key, value] of pairsIn(span.attributes)) writer.attributes.add(key, value);
  writer.add({
    service: from.service,
    instance: from.instance,
    traceId: hexOf(span.traceId, 16),
    spanId: hexOf(span.spanId, 8),
    // Zeros are how some write that there is none.
    parentId: isNothing(span.parentSpanId) ? undefined : (hexOf(span.parentSpanId, 8) ?? "no id"),
    operation: textIn(span.name ?? ""),
    kind: KINDS.get(span.kind) ?? "internal",
    startUs: microseconds(span.startTimeUnixNano),
    endUs: microseconds(span.endTimeUnixNano),
    status: STATUSES.get(objectIn(span.status)?.code) ?? "unset",
    links: listIn(span.links).flatMap((link) => {
      const traceId = hexOf(objectIn(link)?.traceId, 16);
      const spanId = hexOf(objectIn(link)?.spanId, 8);
      return traceId === undefined || spanId === undefined ? [] : [{ traceId, spanId }];
    }),
  });
}

const isNothing = (id: unknown): boolean => id === undefined || id === null || id === "" || id === "0000000000000000";

/** Exactly `bytes` long, as hexadecimal; from base64 where its length says so. */
function hexOf(value: unknown, bytes: number): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value.length === 2 * bytes) return value;
  if (value.length !== 4 * Math.ceil(bytes / 3) || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined;
  const decoded = Buffer.from(value, "base64");
  return decoded.length === bytes ? decoded.toString("hex") : undefined;
}

/** Exact for texts, which is how the specification writes times: a number has lost its last digits already. */
function microseconds(value: unknown): number | undefined {
  if (typeof value === "string" && /^\d{1,20}$/.test(value)) {
    const nanoseconds = BigInt(value);
    return Number(nanoseconds / 1_000n) + Number(nanoseconds % 1_000n) / 1_000;
  }
  return typeof value === "number" && Number.isFinite(value) ? value / 1_000 : undefined;
}

function pairsIn(list: unknown): [string, SpanAttribute][] {
  const pairs: [string, SpanAttribute][] = [];
  for (const item of listIn(list)) {
    const pair = objectIn(item);
    const key = textIn(pair?.key);
    const value = valueIn(pair?.value, 0);
    if (key !== undefined && value !== undefined) pairs.push([key, value]);
  }
  return pairs;
}

/** Lists in lists are written out as JSON; a deeper one is not read. */
function valueIn(item: unknown, depth: number): SpanAttribute | undefined {
  const value = objectIn(item);
  if (value === undefined || depth > 8) return undefined;
  if (typeof value.stringValue === "string") return value.stringValue;
  if (typeof value.boolValue === "boolean") return value.boolValue;
  if (value.intValue !== undefined) return numberIn(value.intValue);
  if (value.doubleValue !== undefined) return numberIn(value.doubleValue);
  if (value.arrayValue === undefined) return undefined;
  return listIn(objectIn(value.arrayValue)?.values).flatMap((inner) => {
    const found = valueIn(inner, depth + 1);
    return found === undefined ? [] : [typeof found === "object" ? JSON.stringify(found) : found];
  });
}
