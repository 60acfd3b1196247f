/**
 * The body of a request, whole, unpacked, and never larger than allowed.
 * Owns: the limit on what is read and the limit on what it unpacks to, which a bomb of a few kilobytes would not respect.
 */
import type { IncomingMessage } from "node:http";
import { gunzip, inflate } from "node:zlib";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";

export interface BodyLimits {
  /** As it comes over the network. */
  readonly maxBodyBytes: number;
  /** Unpacked. */
  readonly maxInflatedBytes: number;
}

type Unpack = typeof gunzip;

const UNPACK = new Map<string, Unpack>([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", inflate],
]);

/** The name of a packing that can be undone, `identity` for none, undefined for others. */
export function encodingOf(request: IncomingMessage): string | undefined {
  const named = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  return named === "identity" || UNPACK.has(named) ? named : undefined;
}

export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Result<Uint8Array>> {
  if (Number(request.headers["content-length"] ?? 0) > limits.maxBodyBytes) return err(tooLarge(limits.maxBodyBytes));
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > limits.maxBodyBytes) return err(tooLarge(limits.maxBodyBytes));
      parts.push(part);
    }
  } catch {
    return err(failure("otlp.aborted", "the sender went away in the middle of its request", { retry: true }));
  }
  const packed = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  const unpack = UNPACK.get(encodingOf(request) ?? "");
  if (unpack === undefined) return size > limits.maxInflatedBytes ? err(tooLarge(limits.maxInflatedBytes)) : ok(packed);
  try {
    return ok(await unpacked(packed, unpack, limits.maxInflatedBytes));
  } catch (thrown) {
    const isBomb = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";
    if (isBomb) return err(tooLarge(limits.maxInflatedBytes));
    return err(
      failure("otlp.bad-compression", "the body can not be unpacked: it is damaged, or its Content-Encoding is wrong"),
    );
  }
}

const tooLarge = (most: number): Failure =>
  failure("otlp.too-large", `the request is larger than ${most} bytes: let the exporter send smaller batches`);

function unpacked(packed: Buffer, unpack: Unpack, maxOutputLength: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    unpack(packed, { maxOutputLength }, (problem, bytes) => (problem === null ? resolve(bytes) : reject(problem)));
  });
}
