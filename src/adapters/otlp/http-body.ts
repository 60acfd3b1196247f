/**
 * The body of a request, whole, unpacked, and never larger than allowed.
 * Owns: the limit on what is read, of one request and of all together, and the limit on what it unpacks to, which a bomb of
 * a few kilobytes would not respect.
 */
import type { IncomingMessage } from "node:http";
import { gunzip, inflate } from "node:zlib";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";

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

/** What all requests together hold in memory while they are read. */
export class ByteBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The body as it came. Its bytes are taken from the budget, and are the caller's to give back. */
export async function readBody(
  request: IncomingMessage,
  { maxBodyBytes, budget }: { readonly maxBodyBytes: number; readonly budget: ByteBudget },
): Promise<Result<Buffer>> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return err(tooLarge(maxBodyBytes));
  const parts: Buffer[] = [];
  let size = 0;
  const given = (problem: Failure): Result<Buffer> => {
    budget.giveBack(size);
    return err(problem);
  };
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      if (size + part.length > maxBodyBytes) return given(tooLarge(maxBodyBytes));
      if (!budget.take(part.length))
        return given(failure("otlp.busy", "too much is being received: send it again in 1 s", { retry: true }));
      size += part.length;
      parts.push(part);
    }
  } catch {
    return given(failure("otlp.aborted", "the sender went away in the middle of its request", { retry: true }));
  }
  return ok(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
}

export async function unpackBody(
  packed: Buffer,
  { encoding, maxInflatedBytes }: { readonly encoding: string; readonly maxInflatedBytes: number },
): Promise<Result<Uint8Array>> {
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined) return packed.length > maxInflatedBytes ? err(tooLarge(maxInflatedBytes)) : ok(packed);
  try {
    return ok(await unpacked(packed, unpack, maxInflatedBytes));
  } catch (thrown) {
    const isBomb = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";
    if (isBomb) return err(tooLarge(maxInflatedBytes));
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
