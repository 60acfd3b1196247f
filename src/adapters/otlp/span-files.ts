/**
 * Spans from files and from other programs' APIs.
 * Owns: reading them whole within a bound, packed or not, and telling the formats apart when nobody said which it is.
 * Not here: the formats (proto-decode.ts, json-decode.ts, jaeger.ts, zipkin.ts).
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { err, failure, ok, type Result } from "../../base/index.ts";
import type { NameTable } from "../../observe/telemetry/index.ts";
import { decodeJaegerJson } from "./jaeger.ts";
import { OtlpJsonDecoder } from "./json-decode.ts";
import { JsonError, JsonLimitError, JsonReader, keyTable, OBJECT, OBJECT_END } from "./json-reader.ts";
import { fileLimits } from "./limits.ts";
import { objectIn, parsedJson, textOf } from "./plain-value.ts";
import { type DecodedSpans, OtlpProtoDecoder } from "./proto-decode.ts";
import { decodeZipkinJson } from "./zipkin.ts";

export type FileFormat = "otlp" | "jaeger" | "zipkin";

export interface SpanFileOptions {
  readonly names: NameTable;
  /** What is found in the file unless said. */
  readonly format?: FileFormat;
  /** Of a file, and of what it unpacks to; 400 MiB unless said, which JSON's readers still take in one piece. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface SpanFile {
  readonly format: FileFormat;
  /** One per message: a file of a collector has many. */
  readonly batches: readonly DecodedSpans[];
}

const MOST_BYTES = 400 * 2 ** 20;
const GZIP = [0x1f, 0x8b] as const;

/** From a path, or from an `http:` or `https:` address that answers a GET with one of the formats. */
export async function readSpans(source: string, options: SpanFileOptions): Promise<Result<SpanFile>> {
  const most = options.maxBytes ?? MOST_BYTES;
  const read = /^https?:\/\//.test(source)
    ? await fetched(source, { most, signal: options.signal })
    : await fileBytes(source, most);
  if (!read.ok) return read;
  const bytes = unpacked(read.value, { source, most });
  return bytes.ok ? decodeFile(bytes.value, { ...options, source }) : bytes;
}

async function fileBytes(path: string, most: number): Promise<Result<Uint8Array>> {
  if (path !== "-" && (await stat(path)).size > most) return err(tooLarge(path, most));
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of (path === "-" ? process.stdin : createReadStream(path)) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) return err(tooLarge(path, most));
    parts.push(part);
  }
  return ok(Buffer.concat(parts));
}

async function fetched(
  url: string,
  { most, signal }: { most: number; signal: AbortSignal | undefined },
): Promise<Result<Uint8Array>> {
  const limit = AbortSignal.timeout(60_000);
  try {
    const answer = await fetch(url, { signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) });
    if (!answer.ok) return err(unreachable(url, `it answers ${answer.status}`));
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > most) return err(tooLarge(url, most));
      parts.push(part);
    }
    return ok(Buffer.concat(parts));
  } catch (thrown) {
    signal?.throwIfAborted();
    return err(unreachable(url, thrown instanceof Error ? thrown.message : String(thrown)));
  }
}

const unreachable = (url: string, why: string) =>
  failure("trace.unreachable", `no spans came from ${url} (${why}): check the address`, { retry: true });

const tooLarge = (source: string, most: number) =>
  failure(
    "trace.too-large",
    `${source} is larger than ${Math.round(most / 2 ** 20)} MiB: split it, or send it to a receiver`,
  );

function unpacked(bytes: Uint8Array, { source, most }: { source: string; most: number }): Result<Uint8Array> {
  if (bytes[0] !== GZIP[0] || bytes[1] !== GZIP[1]) return ok(bytes);
  try {
    return ok(gunzipSync(bytes, { maxOutputLength: most }));
  } catch (thrown) {
    const isBomb = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";
    return err(isBomb ? tooLarge(source, most) : unreadable(source, "its gzip is damaged"));
  }
}

const unreadable = (source: string, why: string) =>
  failure(
    "trace.format",
    `${source} is not understood (${why}): give JSON of OTLP, Jaeger or Zipkin, or protobuf of OTLP, and --format where it can be meant in two ways`,
  );

function decodeFile(
  bytes: Uint8Array,
  { names, format, source }: SpanFileOptions & { readonly source: string },
): Result<SpanFile> {
  const first = bytes.find((byte) => byte > 0x20);
  if (first === undefined) return err(unreadable(source, "it is empty"));
  const isText = first === 0x7b || first === 0x5b;
  if (!isText) {
    if (format !== undefined && format !== "otlp") return err(unreadable(source, `no JSON, so it cannot be ${format}`));
    return fromProto(bytes, { names, source });
  }
  if (format === "otlp" || (format === undefined && isOtlpJson(bytes))) return fromOtlpJson(bytes, { names, source });
  const text = textOf(bytes);
  if (text === undefined) return err(unreadable(source, "it is not valid UTF-8"));
  const documents = documentsIn(text);
  if ("problem" in documents) return err(unreadable(source, documents.problem));
  const batches: DecodedSpans[] = [];
  const found = format ?? formatOf(documents.values[0]);
  if (found === undefined) return err(unreadable(source, "JSON without resourceSpans, processes or Zipkin's ids"));
  for (const value of documents.values) {
    const decoded = DECODERS[found](value, names);
    if (!decoded.ok) return err(unreadable(source, decoded.failure.message));
    batches.push(decoded.value);
  }
  return ok({ format: found, batches });
}

const DECODERS = { jaeger: decodeJaegerJson, zipkin: decodeZipkinJson } as const;
const REQUEST = keyTable("resourceSpans");
const NEWLINE = 0x0a;

/** By the keys of the first document, without reading more than it takes to find one. */
function isOtlpJson(bytes: Uint8Array): boolean {
  const reader = new JsonReader(fileLimits.json);
  reader.reset(bytes);
  try {
    if (reader.peek() !== OBJECT) return false;
    for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
      if (reader.key(REQUEST) === 0) return true;
      reader.skip();
    }
  } catch (thrown) {
    // What is not valid JSON is not OTLP either; whoever reads it says so.
    if (!(thrown instanceof JsonError || thrown instanceof JsonLimitError)) throw thrown;
  }
  return false;
}

/** One document, or one after the other as a collector's file exporter writes them. */
function fromOtlpJson(bytes: Uint8Array, { names, source }: { names: NameTable; source: string }): Result<SpanFile> {
  const batches: DecodedSpans[] = [];
  for (let at = 0; at < bytes.length; ) {
    // A decoder fills its batch anew with every document, so each has its own.
    const decoder = new OtlpJsonDecoder(names, fileLimits);
    const decoded = decoder.decodeNext(bytes, at);
    if (!decoded.ok) {
      const line = bytes.subarray(0, at).filter((byte) => byte === NEWLINE).length + 1;
      return err(unreadable(source, `${batches.length === 0 ? "" : `line ${line}: `}${decoded.failure.message}`));
    }
    batches.push(decoded.value);
    at = decoder.end;
  }
  return ok({ format: "otlp", batches });
}

/** One document, or one per line as a collector's file exporter writes them. */
function documentsIn(text: string): { readonly values: readonly unknown[] } | { readonly problem: string } {
  const whole = parsedJson(text);
  if ("value" in whole) return { values: [whole.value] };
  const values: unknown[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parsedJson(line);
    // Of text whose first line is no document either, the error of the whole says more.
    if ("problem" in parsed)
      return { problem: values.length === 0 ? whole.problem : `line ${index + 1}: ${parsed.problem}` };
    values.push(parsed.value);
  }
  return { values };
}

function formatOf(value: unknown): "jaeger" | "zipkin" | undefined {
  const document = objectIn(value);
  const inner = objectIn(
    Array.isArray(document?.data) ? document.data[0] : Array.isArray(value) ? value.flat()[0] : value,
  );
  if (Array.isArray(document?.data) && inner === undefined) return "jaeger";
  if (inner?.processes !== undefined || Array.isArray(inner?.spans)) return "jaeger";
  if (inner?.traceId !== undefined && inner.id !== undefined) return "zipkin";
  return Array.isArray(value) && value.length === 0 ? "zipkin" : undefined;
}

/** A bare message, or several with four bytes of length before each, as a collector's file exporter writes them. */
function fromProto(bytes: Uint8Array, { names, source }: { names: NameTable; source: string }): Result<SpanFile> {
  const parts = lengthPrefixed(bytes) ?? [bytes];
  const batches: DecodedSpans[] = [];
  for (const part of parts) {
    // A decoder fills its batch anew with every message, so each message has its own.
    const decoded = new OtlpProtoDecoder(names).decode(part);
    if (!decoded.ok) return err(unreadable(source, decoded.failure.message));
    batches.push(decoded.value);
  }
  return ok({ format: "otlp", batches });
}

function lengthPrefixed(bytes: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = view.getUint32(at, false);
    if (length === 0 || at + 4 + length > bytes.length) return undefined;
    parts.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return at === bytes.length ? parts : undefined;
}
