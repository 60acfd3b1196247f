/**
 * Checkpoints as bytes.
 * Owns: the file format (magic, schema version, length, JSON header, number blocks, checksum) and its refusals.
 * Not here: what a learner puts into one (each algorithm's file), where the bytes are kept (adapters/).
 *
 *   offset  size  content
 *        0     8  magic "COXCKPT\0"
 *        8     4  schema version of the format, little endian
 *       12     4  length of the JSON header, H
 *       16     8  length of the whole file, as two 32-bit words
 *       24     H  JSON header: kind, meta, and the name, type and length of every block
 *        …        blocks, each starting at a multiple of 8
 *     last     4  CRC-32C of everything before it
 *
 * The length is stated, so a file cut anywhere is known to be cut. CRC-32C is certain to find any one to three
 * flipped bits and any damaged run of up to 32 bits; that, not forgery, is what happens to files.
 */

import type { Failure, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import { crc32c } from "./crc32c.ts";

export const CHECKPOINT_SCHEMA = 1;

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type NumberBlock = Float32Array | Float64Array | Int32Array | Uint8Array;

export interface Checkpoint {
  /** Who wrote it: `ppo`, `ddpg`, `dqn`, `training`. */
  readonly kind: string;
  /** Small facts: config, shapes, counters, random streams. Numbers must be finite; others belong in a block. */
  readonly meta: { readonly [key: string]: JsonValue };
  readonly blocks: { readonly [name: string]: NumberBlock };
}

const MAGIC = [0x43, 0x4f, 0x58, 0x43, 0x4b, 0x50, 0x54, 0x00];
const HEADER_AT = 24;
const CHECKSUM_BYTES = 4;

type BlockType = "f32" | "f64" | "i32" | "u8";
const widths: { readonly [T in BlockType]: number } = { f32: 4, f64: 8, i32: 4, u8: 1 };

interface BlockEntry {
  readonly name: string;
  readonly type: BlockType;
  readonly length: number;
}

function typeOf(block: NumberBlock): BlockType {
  if (block instanceof Float32Array) return "f32";
  if (block instanceof Float64Array) return "f64";
  if (block instanceof Int32Array) return "i32";
  return "u8";
}

const align8 = (n: number) => Math.ceil(n / 8) * 8;

export function encodeCheckpoint({ kind, meta, blocks }: Checkpoint): Uint8Array {
  const entries = Object.entries(blocks);
  const index: BlockEntry[] = entries.map(([name, block]) => ({ name, type: typeOf(block), length: block.length }));
  const header = new TextEncoder().encode(JSON.stringify({ kind, meta, blocks: index }, refuseNonFinite));
  let size = align8(HEADER_AT + header.length);
  for (const [, block] of entries) size = align8(size + block.byteLength);
  size += CHECKSUM_BYTES;

  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(8, CHECKPOINT_SCHEMA, true);
  view.setUint32(12, header.length, true);
  view.setUint32(16, size >>> 0, true);
  view.setUint32(20, Math.floor(size / 2 ** 32), true);
  bytes.set(header, HEADER_AT);
  let at = align8(HEADER_AT + header.length);
  for (const [, block] of entries) {
    // Typed arrays are little endian on every machine that Node and browsers run on.
    bytes.set(new Uint8Array(block.buffer, block.byteOffset, block.byteLength), at);
    at = align8(at + block.byteLength);
  }
  view.setUint32(at, crc32c(bytes.subarray(0, at)), true);
  return bytes;
}

// JSON writes NaN and Infinity as null without a word: state that would come back different is a bug of the caller.
function refuseNonFinite(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`the checkpoint's '${key}' is ${value}, which JSON cannot hold; put it into a block`);
  }
  return value;
}

export type CheckpointFailure = Failure<"checkpoint.corrupt" | "checkpoint.truncated" | "checkpoint.schema">;

export function decodeCheckpoint(bytes: Uint8Array): Result<Checkpoint, CheckpointFailure> {
  for (let i = 0; i < Math.min(MAGIC.length, bytes.length); i++) {
    if (bytes[i] !== MAGIC[i]) {
      return corrupt(
        "it does not begin with a checkpoint's mark, so it is another kind of file or its start is damaged",
      );
    }
  }
  if (bytes.length < HEADER_AT + CHECKSUM_BYTES) return truncated(bytes.length, HEADER_AT + CHECKSUM_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = view.getUint32(16, true) + view.getUint32(20, true) * 2 ** 32;
  if (bytes.length < size) return truncated(bytes.length, size);
  if (bytes.length > size) return corrupt(`it has ${bytes.length} bytes and states ${size}`);
  const checked = size - CHECKSUM_BYTES;
  if (crc32c(bytes.subarray(0, checked)) !== view.getUint32(checked, true)) {
    return corrupt("its checksum does not match its content");
  }
  // Only after the checksum: a flipped bit in the version must not be taken for a file of another version.
  const schema = view.getUint32(8, true);
  if (schema !== CHECKPOINT_SCHEMA) {
    return err(
      failure(
        "checkpoint.schema",
        `the checkpoint has schema version ${schema} and this program reads version ${CHECKPOINT_SCHEMA}; use the program that wrote it, or train again`,
      ),
    );
  }
  return readContent(bytes, view.getUint32(12, true));
}

function readContent(bytes: Uint8Array, headerLength: number): Result<Checkpoint, CheckpointFailure> {
  const end = bytes.length - CHECKSUM_BYTES;
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER_AT, HEADER_AT + headerLength)));
  } catch {
    return corrupt("its header is not JSON");
  }
  if (!isHeader(header)) return corrupt("its header lacks kind, meta or blocks");
  const blocks: { [name: string]: NumberBlock } = {};
  let at = align8(HEADER_AT + headerLength);
  for (const { name, type, length } of header.blocks) {
    const byteLength = length * widths[type];
    if (at + byteLength > end) return corrupt(`its block '${name}' reaches beyond the end`);
    // A copy: it aligns the block and lets go of the file's bytes.
    // Not the method of its own, which a Buffer has replaced by one that copies nothing.
    blocks[name] = blockOf(type, Uint8Array.prototype.slice.call(bytes, at, at + byteLength).buffer);
    at = align8(at + byteLength);
  }
  if (at !== end) return corrupt(`its blocks end at byte ${at} and its checksum starts at ${end}`);
  return ok({ kind: header.kind, meta: header.meta, blocks });
}

function blockOf(type: BlockType, buffer: ArrayBuffer): NumberBlock {
  switch (type) {
    case "f32":
      return new Float32Array(buffer);
    case "f64":
      return new Float64Array(buffer);
    case "i32":
      return new Int32Array(buffer);
    case "u8":
      return new Uint8Array(buffer);
  }
}

interface Header {
  readonly kind: string;
  readonly meta: { readonly [key: string]: JsonValue };
  readonly blocks: readonly BlockEntry[];
}

function isHeader(value: unknown): value is Header {
  if (typeof value !== "object" || value === null) return false;
  const { kind, meta, blocks } = value as Partial<Record<keyof Header, unknown>>;
  return (
    typeof kind === "string" &&
    typeof meta === "object" &&
    meta !== null &&
    Array.isArray(blocks) &&
    blocks.every(isEntry)
  );
}

function isEntry(value: unknown): value is BlockEntry {
  if (typeof value !== "object" || value === null) return false;
  const { name, type, length } = value as Partial<Record<keyof BlockEntry, unknown>>;
  return (
    typeof name === "string" &&
    typeof type === "string" &&
    type in widths &&
    Number.isInteger(length) &&
    Number(length) >= 0
  );
}

function corrupt(why: string) {
  return err(
    failure("checkpoint.corrupt", `the checkpoint is damaged: ${why}; restore it from a copy or use the one before it`),
  );
}

function truncated(found: number, stated: number) {
  return err(
    failure(
      "checkpoint.truncated",
      `the checkpoint ends after ${found} of at least ${stated} bytes; it was cut while written or copied, so use the one before it`,
    ),
  );
}
