/**
 * OTLP's Resource in protobuf: which service and which instance sent the spans of a message.
 * Owns: looking for the few attributes that name them; all others are skipped. Not here: which those are (resource-names.ts).
 */
import type { NameTable } from "../../observe/telemetry/index.ts";
import { INSTANCE_KEYS, SERVICE_KEY, UNKNOWN_SERVICE } from "./resource-names.ts";
import type { WireReader } from "./wire-reader.ts";

/** Numbers of the table of names. */
export interface SpanSource {
  readonly service: number;
  readonly instance: number;
}

const utf8 = new TextEncoder();
/** The service's name first, then the instance's in the order of preference. */
const KEYS = [SERVICE_KEY, ...INSTANCE_KEYS].map((key) => utf8.encode(key));
const TAG = { attributes: 0x0a, key: 0x0a, value: 0x12, stringValue: 0x0a } as const;

export class ResourceReader {
  readonly #names: NameTable;
  readonly unknown: SpanSource;

  constructor(names: NameTable) {
    this.#names = names;
    const nobody = names.intern(UNKNOWN_SERVICE);
    this.unknown = { service: nobody, instance: nobody };
  }

  /** The reader stands at the resource's first byte, and stands at its end afterwards. */
  read(reader: WireReader, end: number): SpanSource {
    let service = this.unknown.service;
    let instance = -1;
    let best = KEYS.length;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== TAG.attributes) {
        reader.skip(tag, end);
        continue;
      }
      const found = this.#pair(reader, reader.endOfField(end));
      if (found === undefined) continue;
      if (found.key === 0) service = found.name;
      else if (found.key < best) {
        best = found.key;
        instance = found.name;
      }
    }
    return { service, instance: instance < 0 ? service : instance };
  }

  /** Which of the names we look for it is, and the name itself. */
  #pair(reader: WireReader, end: number): { readonly key: number; readonly name: number } | undefined {
    let key = -1;
    let from = 0;
    let to = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === TAG.key) {
        const keyEnd = reader.endOfField(end);
        key = keyAt(reader.bytes, reader.at, keyEnd);
        reader.at = keyEnd;
      } else if (tag === TAG.value) {
        const valueEnd = reader.endOfField(end);
        // An AnyValue without a value is a message of no bytes.
        if (reader.at < valueEnd && reader.varint(valueEnd) === TAG.stringValue) {
          to = reader.endOfField(valueEnd);
          from = reader.at;
        }
        reader.at = valueEnd;
      } else reader.skip(tag, end);
    }
    // Only now: collectors write a value before its key, and names that nobody looks for are not to fill the table.
    if (key < 0 || to <= from) return undefined;
    const name = this.#names.internBytes(reader.bytes, from, to);
    return name >= 0 ? { key, name } : undefined;
  }
}

/** The index in KEYS, -1 for other keys. */
function keyAt(bytes: Uint8Array, from: number, to: number): number {
  for (let k = 0; k < KEYS.length; k++) {
    const key = KEYS[k]!;
    if (key.length !== to - from) continue;
    let i = 0;
    while (i < key.length && key[i] === bytes[from + i]) i++;
    if (i === key.length) return k;
  }
  return -1;
}
