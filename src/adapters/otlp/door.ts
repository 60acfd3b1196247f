/**
 * Who may send spans: everybody of this machine, or whoever has a token.
 * Spans steer decisions, so a port that others can reach asks for a token, unless its owner says that the network is trusted.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { err, failure, ok, type Result } from "../../base/index.ts";

const SHORTEST_TOKEN = 16;

export interface DoorOptions {
  readonly host: string;
  readonly tokens: readonly string[];
  /** The network keeps strangers out, as a cluster's own policies may: no token is asked for. */
  readonly isTrustedNetwork: boolean;
}

/** Whether a request with this `authorization` header may go on. */
export type SpanDoor = (authorization: string | undefined) => boolean;

export function spanDoor({ host, tokens, isTrustedNetwork }: DoorOptions): Result<SpanDoor> {
  if (tokens.some((token) => token.length < SHORTEST_TOKEN || /\s/.test(token))) {
    const text = `a token for spans is shorter than ${SHORTEST_TOKEN} characters or has spaces: use a longer random one`;
    return err(failure("otlp.token-weak", text));
  }
  if (tokens.length === 0) {
    if (isTrustedNetwork || isLoopback(host)) return ok(() => true);
    const text = `'${host}' can be reached by others, and spans would be taken there without a token: bind 127.0.0.1, give a token, or say that the network is trusted`;
    return err(failure("otlp.token-required", text));
  }
  const digests = tokens.map(digestOf);
  return ok((authorization) => {
    const given = digestOf(/^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "");
    // All are compared, and digests have one length: the time tells nothing about any token.
    let isKnown = false;
    for (const digest of digests) if (timingSafeEqual(digest, given)) isKnown = true;
    return isKnown;
  });
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
