/**
 * Who may play on a host of environments: everybody of this machine, or whoever has a token.
 * Not here: resume tokens, which name a session (session-table.ts).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { err, failure, ok, type Result } from "../../base/index.ts";

/** Shorter ones can be guessed. */
const SHORTEST_TOKEN = 16;

/** Throws the gRPC status UNAUTHENTICATED at whoever may not. */
export type AccessCheck = (headers: Headers) => void;

export function accessCheckFor(host: string, tokens: readonly string[]): Result<AccessCheck> {
  if (tokens.some((token) => token.length < SHORTEST_TOKEN || /\s/.test(token))) {
    const text = `an access token for environments is shorter than ${SHORTEST_TOKEN} characters or has spaces; use a longer random one`;
    return err(failure("env.token-weak", text));
  }
  if (tokens.length === 0) {
    if (isLoopback(host)) return ok(() => undefined);
    const text = `'${host}' can be reached by others, and environments would be served there without a token; bind 127.0.0.1, or give a token`;
    return err(failure("env.token-required", text));
  }
  const digests = tokens.map(digestOf);
  return ok((headers) => {
    const given = digestOf(/^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "");
    // All are compared, and digests have one length: the time tells nothing about any token.
    let isKnown = false;
    for (const digest of digests) if (timingSafeEqual(digest, given)) isKnown = true;
    if (!isKnown)
      throw new ConnectError("send the metadata 'authorization: Bearer <token>' of this host", Code.Unauthenticated);
  });
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
