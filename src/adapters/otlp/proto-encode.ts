/**
 * Columns to OTLP's protobuf: for forwarding batches to the process that owns the store, and for tests.
 * Owns: the same fields that proto-decode.ts reads. Attributes go as the bytes they came as.
 */
import { LINK_WORDS, type SpanColumns } from "../../observe/telemetry/index.ts";

const utf8 = new TextEncoder();

export function encodeOtlp(batch: SpanColumns): Uint8Array {
  const out = new ByteWriter();
  const names = new Map<number, Uint8Array>();
  const nameOf = (id: number): Uint8Array => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const bytes = utf8.encode(batch.names.text(id));
    names.set(id, bytes);
    return bytes;
  };
  for (let from = 0; from < batch.length; ) {
    let to = from + 1;
    while (to < batch.length && isSameSource(batch, from, to)) to += 1;
    const service = nameOf(batch.service[from]!);
    const instance = nameOf(batch.instance[from]!);
    out.message(0x0a, () => {
      out.message(0x0a, () => {
        attribute(out, "service.name", service);
        attribute(out, "k8s.pod.name", instance);
      });
      out.message(0x12, () => {
        for (let row = from; row < to; row++) out.message(0x12, () => writeSpan(out, batch, { row, nameOf }));
      });
    });
    from = to;
  }
  return out.bytes();
}

const isSameSource = ({ service, instance }: SpanColumns, a: number, b: number): boolean =>
  service[a] === service[b] && instance[a] === instance[b];

function attribute(out: ByteWriter, key: string, value: Uint8Array): void {
  out.message(0x0a, () => {
    out.field(0x0a, utf8.encode(key));
    out.message(0x12, () => out.field(0x0a, value));
  });
}

function writeSpan(
  out: ByteWriter,
  batch: SpanColumns,
  { row, nameOf }: { row: number; nameOf: (id: number) => Uint8Array },
): void {
  out.words(0x0a, batch.traceIds, { at: 4 * row, words: 4 });
  out.words(0x12, batch.spanIds, { at: 2 * row, words: 2 });
  if (batch.parentIds[2 * row] !== 0 || batch.parentIds[2 * row + 1] !== 0)
    out.words(0x22, batch.parentIds, { at: 2 * row, words: 2 });
  out.field(0x2a, nameOf(batch.operation[row]!));
  out.varint(0x30);
  out.varint(batch.kind[row]! + 1);
  out.nanoseconds(0x39, batch.startUs[row]!);
  out.nanoseconds(0x41, batch.endUs[row]!);
  out.raw(batch.attributeBytes.subarray(batch.attributesFrom[row], batch.attributesTo[row]));
  const links = batch.links.get(row);
  for (let at = 0; links !== undefined && at < links.length; at += LINK_WORDS) {
    out.message(0x6a, () => {
      out.words(0x0a, links, { at, words: 4 });
      out.words(0x12, links, { at: at + 4, words: 2 });
    });
  }
  if (batch.status[row] !== 0) {
    out.message(0x7a, () => {
      out.varint(0x18);
      out.varint(batch.status[row]!);
    });
  }
}

/** Grows as it is written to. A message's length is put in front of it once it is known. */
class ByteWriter {
  #bytes = new Uint8Array(4_096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#length++] = (rest & 127) | 128;
    this.#bytes[this.#length++] = rest;
  }

  field(tag: number, bytes: Uint8Array): void {
    this.varint(tag);
    this.varint(bytes.length);
    this.raw(bytes);
  }

  words(tag: number, from: Uint32Array, { at, words }: { at: number; words: number }): void {
    this.varint(tag);
    this.varint(4 * words);
    this.#reserve(4 * words);
    for (let w = 0; w < words; w++, this.#length += 4) this.#view.setUint32(this.#length, from[at + w]!, false);
  }

  nanoseconds(tag: number, microseconds: number): void {
    this.varint(tag);
    this.#reserve(8);
    // Whole and broken microseconds apart: their product with a thousand is larger than a double's exact numbers.
    const whole = Math.max(0, Math.floor(microseconds));
    const rest = Math.round((Math.max(0, microseconds) - whole) * 1_000);
    this.#view.setBigUint64(this.#length, BigInt(whole) * 1_000n + BigInt(rest), true);
    this.#length += 8;
  }

  message(tag: number, write: () => void): void {
    this.varint(tag);
    const at = this.#length;
    write();
    const size = this.#length - at;
    const room = size < 128 ? 1 : size < 16_384 ? 2 : size < 2_097_152 ? 3 : size < 268_435_456 ? 4 : 5;
    this.#reserve(room);
    this.#bytes.copyWithin(at + room, at, this.#length);
    this.#length = at;
    this.varint(size);
    this.#length = at + room + size;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
