/**
 * Zipkin's JSON, version 2, to columns.
 * Owns: its fields, and its shared spans. Not here: the checks on a span (row-writer.ts).
 *
 * In Zipkin a client and its server may use one id: the server's half says `shared`. It becomes a span of its own below
 * the client's, with an id made from the shared one, and the calls that the server makes are put below it.
 */
import { err, failure, ok, type Result } from "../../base/index.ts";
import type { NameTable, SpanKind } from "../../observe/telemetry/index.ts";
import { numberIn, objectIn, type PlainObject, textIn } from "./plain-value.ts";
import type { DecodedSpans } from "./proto-decode.ts";
import { instanceOf, UNKNOWN_SERVICE } from "./resource-names.ts";
import { RowWriter } from "./row-writer.ts";

const KINDS = new Map<unknown, SpanKind>([
  ["SERVER", "server"],
  ["CLIENT", "client"],
  ["PRODUCER", "producer"],
  ["CONSUMER", "consumer"],
]);

/** A parsed list of spans, or a list of such lists as /api/v2/traces answers. */
export function decodeZipkinJson(document: unknown, names: NameTable): Result<DecodedSpans> {
  if (!Array.isArray(document)) {
    return err(
      failure("otlp.not-zipkin", "the JSON is no list of spans: send what POST /api/v2/spans of Zipkin takes"),
    );
  }
  const writer = new RowWriter(names);
  const spans = document.flat(1).map(objectIn);
  const shared = sharedServers(spans);
  for (const span of spans) {
    if (span === undefined) writer.drop("invalid-field");
    else addSpan(writer, span, shared);
  }
  return ok(writer.result);
}

/** The services whose half of a shared span has another id now, by trace and shared id. */
function sharedServers(spans: readonly (PlainObject | undefined)[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const span of spans) {
    if (span?.shared === true) found.set(`${String(span.traceId)} ${String(span.id)}`, serviceOf(span));
  }
  return found;
}

const serviceOf = (span: PlainObject): string => textIn(objectIn(span.localEndpoint)?.serviceName) ?? UNKNOWN_SERVICE;

function addSpan(writer: RowWriter, span: PlainObject, shared: ReadonlyMap<string, string>): void {
  const tags = tagsIn(span.tags);
  const service = serviceOf(span);
  const endpoint = objectIn(span.localEndpoint);
  const start = numberIn(span.timestamp);
  const id = textIn(span.id);
  const isShared = span.shared === true;
  const parent = textIn(span.parentId);
  const isServersCall =
    parent !== undefined && shared.get(`${String(span.traceId)} ${parent}`) === service && !isShared;
  for (const [key, value] of tags) writer.attributes.add(key, value);
  writer.add({
    traceId: textIn(span.traceId),
    spanId: isShared ? serverHalf(id) : id,
    parentId: isShared ? id : isServersCall ? serverHalf(parent) : parent,
    service,
    instance: instanceOf((key) => tags.get(key) ?? (key === "ip" ? textIn(endpoint?.ipv4) : undefined), service),
    operation: textIn(span.name ?? ""),
    kind: KINDS.get(span.kind) ?? "internal",
    startUs: start,
    // A span without a duration was not finished when it was reported.
    endUs: start === undefined ? undefined : start + (numberIn(span.duration) ?? 0),
    status: tags.has("error") ? "error" : "unset",
  });
}

/** The first bit turned: the same every time, and as unlikely to meet another id as any. */
function serverHalf(id: string | undefined): string | undefined {
  if (id === undefined || !/^[0-9a-fA-F]{1,16}$/.test(id)) return id;
  const padded = id.padStart(16, "0");
  return (Number.parseInt(padded[0] as string, 16) ^ 8).toString(16) + padded.slice(1);
}

function tagsIn(value: unknown): Map<string, string> {
  const tags = Object.entries(objectIn(value) ?? {});
  return new Map(tags.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
