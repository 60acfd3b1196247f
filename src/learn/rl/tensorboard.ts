/**
 * TensorBoard event files as bytes: scalars over steps, readable by the stock `tensorboard` program.
 * Owns: the record framing (length, masked CRC-32C) and the few fields of the Event message that scalars need.
 * Not here: the clock (times are arguments) and the file (adapters/).
 *
 * A record is: length as 64 bits, masked checksum of those 8 bytes, the message, masked checksum of the message.
 * The message is protobuf: Event { 1: wall time (double), 2: step (int64), 3: file version (string), 5: Summary };
 * Summary { 1: repeated Value { 1: tag (string), 2: simple value (float) } }.
 */

import { crc32c } from "./crc32c.ts";

export interface ScalarEvent {
  /** Seconds since the Unix epoch. */
  readonly wallTime: number;
  readonly step: number;
  readonly scalars: { readonly [tag: string]: number };
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const utf8 = new TextEncoder();

/** The first record of every event file; a file without it is not read. */
export function eventFileHeader(wallTime: number): Uint8Array {
  return record([...double(1, wallTime), ...bytesField(3, utf8.encode("brain.Event:2"))]);
}

/** One record with the scalars of one step. */
export function encodeScalars({ wallTime, step, scalars }: ScalarEvent): Uint8Array {
  const summary: number[] = [];
  for (const [tag, value] of Object.entries(scalars)) {
    summary.push(...bytesField(1, [...bytesField(1, utf8.encode(tag)), ...float(2, value)]));
  }
  return record([...double(1, wallTime), ...varintField(2, step), ...bytesField(5, summary)]);
}

/** The name TensorBoard looks for; the host part may be anything. */
export function eventFileName({ wallTime, run }: { wallTime: number; run: string }): string {
  return `events.out.tfevents.${Math.floor(wallTime)}.${run}`;
}

function record(message: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(message.length + 16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, message.length, true);
  view.setUint32(8, mask(crc32c(bytes.subarray(0, 8))), true);
  bytes.set(message, 12);
  view.setUint32(12 + message.length, mask(crc32c(bytes.subarray(12, 12 + message.length))), true);
  return bytes;
}

// A checksum stored next to data that is itself checksummed would cancel out; the format rotates and shifts it.
function mask(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

const tagOf = (field: number, wire: number) => (field << 3) | wire;

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return out;
}

function varintField(field: number, value: number): number[] {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`a step is a whole number from 0, got ${value}`);
  return [tagOf(field, WIRE.varint), ...varint(value)];
}

function bytesField(field: number, content: ArrayLike<number>): number[] {
  return [tagOf(field, WIRE.bytes), ...varint(content.length), ...Array.from(content)];
}

function double(field: number, value: number): number[] {
  return [tagOf(field, WIRE.fixed64), ...new Uint8Array(Float64Array.of(value).buffer)];
}

function float(field: number, value: number): number[] {
  return [tagOf(field, WIRE.fixed32), ...new Uint8Array(Float32Array.of(value).buffer)];
}
