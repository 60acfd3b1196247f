/**
 * The fields of a span in OTLP's JSON, one function each; the reader stands before the value and behind it afterwards.
 * Owns: what each may look like. What exporters really write is read from its bytes; whatever else JSON allows is built by
 * JSON.parse and looked through, so that both have the same meaning.
 */
import {
  type AttributeEncoder,
  hexToWords,
  isNoId,
  SPAN_KINDS,
  SPAN_STATUSES,
  SPAN_WORDS,
  type SpanAttribute,
} from "../../observe/telemetry/index.ts";
import { type JsonReader, keyTable, OBJECT, OBJECT_END, QUOTE } from "./json-reader.ts";
import { type ByteRange, byteRange } from "./json-text.ts";
import { listIn, numberIn, objectIn, textIn } from "./plain-value.ts";
import { instanceOf, SERVICE_KEY, UNKNOWN_SERVICE } from "./resource-names.ts";
import { linkWords } from "./row-writer.ts";

/** Numbers by the specification, names by protobuf's own JSON, which some exporters use. */
const KINDS = new Map<unknown, number>(
  (["SERVER", "CLIENT", "PRODUCER", "CONSUMER"] as const).flatMap((name, k) => {
    const index = SPAN_KINDS.findIndex((kind) => kind.toUpperCase() === name);
    return [
      [k + 2, index],
      [`SPAN_KIND_${name}`, index],
    ];
  }),
);
const INTERNAL = SPAN_KINDS.indexOf("internal");
const STATUSES = new Map<unknown, number>([
  [1, SPAN_STATUSES.indexOf("ok")],
  [2, SPAN_STATUSES.indexOf("error")],
  ["STATUS_CODE_OK", SPAN_STATUSES.indexOf("ok")],
  ["STATUS_CODE_ERROR", SPAN_STATUSES.indexOf("error")],
]);
export const UNSET = SPAN_STATUSES.indexOf("unset");

const STATUS = keyTable("code");
const PAIR = keyTable("key", "value");
const VALUE = keyTable("stringValue", "intValue", "doubleValue", "boolValue");
const TEXT = 0;
const BOOLEAN = 3;

/** The value of a digit by its character, -1 for others. */
const DIGITS = Int8Array.from({ length: 256 }, (_, code) =>
  /[0-9a-fA-F]/.test(String.fromCharCode(code)) && code < 128 ? Number.parseInt(String.fromCharCode(code), 16) : -1,
);

interface IdPlace {
  readonly at: number;
  readonly words: number;
}

/** Whether it is an id, and not all zero; then its words are in their place. */
export function readId(reader: JsonReader, into: Uint32Array, place: IdPlace): boolean {
  return idInto(reader, into, place) && !isNoId(into, place);
}

/** Whether it is a parent's id or none: zeros are how some write that there is none. */
export function readParent(reader: JsonReader, into: Uint32Array, at: number): boolean {
  into.fill(0, at, at + SPAN_WORDS);
  if (reader.peek() !== QUOTE) return reader.scalar() === null;
  const begin = reader.at;
  if (idInto(reader, into, { at, words: SPAN_WORDS })) return true;
  // An empty text, quotes and nothing between them.
  return reader.at === begin + 2;
}

function idInto(reader: JsonReader, into: Uint32Array, { at, words }: IdPlace): boolean {
  if (reader.peek() !== QUOTE) {
    reader.skip();
    return false;
  }
  reader.string();
  const { bytes, from, to } = reader;
  if (reader.isEscaped || to - from !== 8 * words) {
    const text = hexOf(reader.text(), 4 * words);
    return text !== undefined && hexToWords(text, into, { at, words });
  }
  for (let w = 0, i = from; w < words; w++) {
    let word = 0;
    for (const end = i + 8; i < end; i++) {
      const digit = DIGITS[bytes[i]!]!;
      if (digit < 0) return false;
      word = (word << 4) | digit;
    }
    into[at + w] = word;
  }
  return true;
}

/** Exactly `bytes` long, as hexadecimal; from base64 where its length says so. */
function hexOf(value: unknown, bytes: number): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value.length === 2 * bytes) return value;
  if (value.length !== 4 * Math.ceil(bytes / 3) || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined;
  const decoded = Buffer.from(value, "base64");
  return decoded.length === bytes ? decoded.toString("hex") : undefined;
}

/** Nanoseconds as microseconds, NaN for what is no time. Exact for texts, which is how the specification writes them. */
export function readMicroseconds(reader: JsonReader): number {
  if (reader.peek() !== QUOTE) {
    const value = reader.scalar();
    // A number has lost its last digits already.
    return typeof value === "number" && Number.isFinite(value) ? value / 1_000 : Number.NaN;
  }
  reader.string();
  const { bytes, from, to } = reader;
  if (reader.isEscaped) return microsecondsOf(reader.text());
  if (to === from || to - from > 20) return Number.NaN;
  let whole = 0;
  let rest = 0;
  for (let i = from; i < to; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    if (i < to - 3) whole = 10 * whole + digit;
    else rest = 10 * rest + digit;
  }
  return whole <= Number.MAX_SAFE_INTEGER ? whole + rest / 1_000 : microsecondsOf(reader.text());
}

function microsecondsOf(text: string): number {
  if (!/^\d{1,20}$/.test(text)) return Number.NaN;
  const nanoseconds = BigInt(text);
  return Number(nanoseconds / 1_000n) + Number(nanoseconds % 1_000n) / 1_000;
}

/** Its index in SPAN_KINDS. */
export const readKind = (reader: JsonReader): number => KINDS.get(reader.scalar()) ?? INTERNAL;

/** The index of its code in SPAN_STATUSES. */
export function readStatus(reader: JsonReader): number {
  if (reader.peek() !== OBJECT) {
    reader.skip();
    return UNSET;
  }
  let code: unknown;
  for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
    if (reader.key(STATUS) === 0) code = reader.scalar();
    else reader.skip();
  }
  return STATUSES.get(code) ?? UNSET;
}

const keyRange = byteRange();
const textRange = byteRange();

/** One pair of a span's attributes, added where it can be used. */
export function readAttribute(reader: JsonReader, attributes: AttributeEncoder): void {
  const { at, values, depth } = reader;
  const isUsual = reader.peek() === OBJECT && usualAttribute(reader, attributes);
  if (isUsual) return;
  Object.assign(reader, { at, values, depth });
  for (const [key, value] of pairsIn([reader.plain()])) attributes.add(key, value);
}

/** A key and a value, once each; false, and nothing added, for anything else. */
function usualAttribute(reader: JsonReader, attributes: AttributeEncoder): boolean {
  let hasKey = false;
  let found: ByteRange | number | boolean | undefined;
  for (let more = reader.open(); more; more = reader.next(OBJECT_END)) {
    const part = reader.key(PAIR);
    if (part === 0 && !hasKey && reader.peek() === QUOTE) {
      reader.string();
      reader.utf8(keyRange);
      hasKey = true;
    } else if (part === 1 && found === undefined && reader.peek() === OBJECT && reader.open()) {
      found = usualValue(reader, reader.key(VALUE));
      if (found === undefined || reader.next(OBJECT_END)) return false;
    } else return false;
  }
  if (!hasKey || found === undefined) return false;
  attributes.addBytes(keyRange, found);
  return true;
}

function usualValue(reader: JsonReader, field: number): ByteRange | number | boolean | undefined {
  if (field < 0) return undefined;
  if (field === TEXT) {
    if (reader.peek() !== QUOTE) return undefined;
    reader.string();
    reader.utf8(textRange);
    return textRange;
  }
  if (field !== BOOLEAN && reader.peek() === QUOTE) {
    reader.string();
    // 64-bit numbers are texts by the specification: most are a few digits.
    return reader.digits() ?? numberIn(reader.text());
  }
  const value = reader.scalar();
  if (field === BOOLEAN) return typeof value === "boolean" ? value : undefined;
  return numberIn(value);
}

/** The links of a span, LINK_WORDS words each. */
export function linksIn(list: unknown): Uint32Array | undefined {
  const links = listIn(list).flatMap((link) => {
    const traceId = hexOf(objectIn(link)?.traceId, 16);
    const spanId = hexOf(objectIn(link)?.spanId, 8);
    return traceId === undefined || spanId === undefined ? [] : [{ traceId, spanId }];
  });
  return linkWords(links);
}

export function sourceIn(resource: unknown): { readonly service: string; readonly instance: string } {
  const attributes = new Map(pairsIn(objectIn(resource)?.attributes));
  const text = (key: string): string | undefined => textIn(attributes.get(key));
  const service = text(SERVICE_KEY) ?? UNKNOWN_SERVICE;
  return { service, instance: instanceOf(text, service) };
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
