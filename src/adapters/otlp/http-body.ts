/**
 * The body of a request, whole, unpacked, and never larger than allowed.
 * Owns: the limit on what is read and on what it unpacks to, which a bomb of a few kilobytes would not respect; every part
 * is counted as it comes. Not here: how much all of them may hold together (byte-budget.ts).
 */
import type { Readable, Transform } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import type { HeldBytes } from "./byte-budget.ts";

/** One step of unpacking gives so much at most. */
const PART_BYTES = 128 * 1_024;

const UNPACKERS = new Map<string, () => Transform>([
  ["gzip", () => createGunzip({ chunkSize: PART_BYTES })],
  ["x-gzip", () => createGunzip({ chunkSize: PART_BYTES })],
  ["deflate", () => createInflate({ chunkSize: PART_BYTES })],
]);

export const IDENTITY = "identity";

/** The name of a packing that can be undone, `identity` for none, undefined for others. */
export function encodingOf(header: string | readonly string[] | undefined): string | undefined {
  const named = String(header ?? IDENTITY)
    .trim()
    .toLowerCase();
  return named === IDENTITY || UNPACKERS.has(named) ? named : undefined;
}

/** The parts of a body whose connection is still there when not all of them are read: its sender is to hear why. */
export const unbroken = (body: Readable): AsyncIterable<Buffer> =>
  body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;

export interface BodyLimits {
  readonly mostBytes: number;
  /** Takes the bytes from what all may hold, and is the caller's to give back. */
  readonly held: HeldBytes;
}

/** The body as it came; `length` is what its sender said of it. */
export async function readBody(
  parts: AsyncIterable<Buffer>,
  { length, mostBytes, held }: BodyLimits & { readonly length: string | undefined },
): Promise<Result<Buffer>> {
  if (Number(length ?? 0) > mostBytes) return err(tooLarge(mostBytes));
  try {
    return await collected(parts, { mostBytes, held });
  } catch {
    return err(failure("otlp.aborted", "the sender went away in the middle of its request", { retry: true }));
  }
}

export async function unpackBody(
  packed: Buffer,
  { encoding, mostBytes, held }: BodyLimits & { readonly encoding: string },
): Promise<Result<Buffer>> {
  const unpacker = UNPACKERS.get(encoding)?.();
  if (unpacker === undefined) return packed.length > mostBytes ? err(tooLarge(mostBytes)) : ok(packed);
  unpacker.end(packed);
  try {
    return await collected(unpacker, { mostBytes, held });
  } catch {
    return err(
      failure("otlp.bad-compression", "the body cannot be unpacked: it is damaged, or its Content-Encoding is wrong"),
    );
  } finally {
    unpacker.destroy();
  }
}

async function collected(from: AsyncIterable<Buffer>, { mostBytes, held }: BodyLimits): Promise<Result<Buffer>> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of from) {
    size += part.length;
    if (size > mostBytes) return err(tooLarge(mostBytes));
    if (!held.take(part.length)) return err(BUSY);
    parts.push(part);
  }
  return ok(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
}

const BUSY = failure("otlp.busy", "too much is being received: send it again in 1 s", { retry: true });

const tooLarge = (most: number): Failure =>
  failure("otlp.too-large", `the request is larger than ${most} bytes: let the exporter send smaller batches`);
