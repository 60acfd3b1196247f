/**
 * Jaeger's JSON (of its query API, its UI's download and its file export) to columns.
 * Owns: its fields: processes, references, tags. Not here: the checks on a span (row-writer.ts).
 *
 * A FOLLOWS_FROM reference says that the parent does not wait: where a span has no other parent and no kind of its own it
 * becomes a consumer. References besides the first parent become links.
 */
import { err, failure, ok, type Result } from "../../base/index.ts";
import { type NameTable, SPAN_KINDS, type SpanKind } from "../../observe/telemetry/index.ts";
import { listIn, numberIn, objectIn, type PlainObject, textIn } from "./plain-value.ts";
import type { DecodedSpans } from "./proto-decode.ts";
import { instanceOf, UNKNOWN_SERVICE } from "./resource-names.ts";
import { RowWriter } from "./row-writer.ts";

/** A parsed answer `{data: [trace, …]}`, a list of traces, or one trace. */
export function decodeJaegerJson(document: unknown, names: NameTable): Result<DecodedSpans> {
  const traces = tracesIn(document);
  if (traces === undefined) {
    return err(
      failure(
        "otlp.not-jaeger",
        "the JSON has neither 'data' nor 'spans' with 'processes': save a trace as JSON from Jaeger's UI or its /api/traces",
      ),
    );
  }
  const writer = new RowWriter(names);
  for (const trace of traces) {
    const sources = new Map(Object.entries(objectIn(trace.processes) ?? {}).map(([id, item]) => [id, sourceOf(item)]));
    for (const item of listIn(trace.spans)) {
      const span = objectIn(item);
      if (span === undefined) writer.drop("invalid-field");
      else addSpan(writer, span, sources.get(String(span.processID)) ?? sourceOf(span.process));
    }
  }
  return ok(writer.result);
}

function tracesIn(document: unknown): readonly PlainObject[] | undefined {
  const list = Array.isArray(document) ? document : (objectIn(document)?.data ?? [document]);
  if (!Array.isArray(list)) return undefined;
  const traces = list.map(objectIn);
  return traces.every((trace) => trace !== undefined && Array.isArray(trace.spans))
    ? (traces as PlainObject[])
    : undefined;
}

interface Source {
  readonly service: string;
  readonly instance: string;
}

function sourceOf(item: unknown): Source {
  const process = objectIn(item);
  const places = textsIn(process?.tags);
  const service = textIn(process?.serviceName) ?? UNKNOWN_SERVICE;
  return { service, instance: instanceOf((key) => textIn(places.get(key)), service) };
}

function addSpan(writer: RowWriter, span: PlainObject, source: Source): void {
  let kind: unknown;
  let isError = false;
  for (const item of listIn(span.tags)) {
    const tag = objectIn(item);
    const { key, value } = tag ?? {};
    if (typeof key !== "string" || !isPlain(value)) continue;
    writer.attributes.add(key, value);
    if (key === "span.kind") kind = value;
    if (key === "error" ? value === true || value === "true" : key === "otel.status_code" && value === "ERROR")
      isError = true;
  }
  const { parentId, links, isAsync } = referencesIn(span);
  const start = numberIn(span.startTime);
  const duration = numberIn(span.duration);
  writer.add({
    service: source.service,
    instance: source.instance,
    traceId: textIn(span.traceID),
    spanId: textIn(span.spanID),
    parentId,
    operation: textIn(span.operationName),
    kind: kindOf(kind, isAsync),
    startUs: start,
    endUs: start === undefined || duration === undefined ? undefined : start + duration,
    status: isError ? "error" : "unset",
    links,
  });
}

function referencesIn(span: PlainObject) {
  const only = listIn(span.references);
  if (only.length === 0) return { parentId: textIn(span.parentSpanID), links: [], isAsync: false };
  const references = listIn(span.references).flatMap((item) => {
    const { refType, traceID, spanID } = objectIn(item) ?? {};
    return typeof traceID === "string" && typeof spanID === "string"
      ? [{ refType, traceId: traceID, spanId: spanID }]
      : [];
  });
  const own = references.filter(({ traceId }) => traceId === span.traceID);
  const parent = own.find(({ refType }) => refType !== "FOLLOWS_FROM") ?? own[0];
  return {
    // Jaeger's oldest files have the parent as a field.
    parentId: parent?.spanId ?? textIn(span.parentSpanID),
    links: references.filter((reference) => reference !== parent),
    isAsync: parent?.refType === "FOLLOWS_FROM",
  };
}

function kindOf(tag: unknown, isAsync: boolean): SpanKind {
  const kind = SPAN_KINDS.find((name) => name === tag);
  return kind ?? (isAsync ? "consumer" : "internal");
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));

/** Of a process, where only texts are asked for. */
function textsIn(list: unknown): Map<unknown, unknown> {
  return new Map(listIn(list).map((item) => [objectIn(item)?.key, objectIn(item)?.value]));
}
