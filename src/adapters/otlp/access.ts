/**
 * Who may send spans: everybody of this machine, or whoever has a token; never a page in somebody's browser.
 * Spans steer decisions, so a port that others can reach asks for a token, unless its owner says that the network is trusted.
 * Not here: what tells a page's request (base/own-requests.ts), which the API asks as well.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import {
  err,
  type Failure,
  failure,
  isForeignOrigin,
  isLoopbackAddress,
  isLoopbackName,
  ok,
  type Result,
} from "../../base/index.ts";

const SHORTEST_TOKEN = 16;

export interface AccessOptions {
  readonly host: string;
  readonly tokens: readonly string[];
  /** The network keeps strangers out, as a cluster's own policies may: no token is asked for. */
  readonly isTrustedNetwork: boolean;
}

/** The headers of a request, by their names in small letters. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Why a request with these headers may not go on; undefined when it may. */
export type AccessCheck = (headers: RequestHeaders) => Failure | undefined;

export function accessCheck({ host, tokens, isTrustedNetwork }: AccessOptions): Result<AccessCheck> {
  if (tokens.some((token) => token.length < SHORTEST_TOKEN || /\s/.test(token))) {
    const text = `a token for spans is shorter than ${SHORTEST_TOKEN} characters or has spaces: use a longer random one`;
    return err(failure("otlp.token-weak", text));
  }
  if (tokens.length === 0 && !isTrustedNetwork && !isLoopbackAddress(host)) {
    const text = `'${host}' can be reached by others, and spans would be taken there without a token: bind 127.0.0.1, give a token, or say that the network is trusted`;
    return err(failure("otlp.token-required", text));
  }
  const digests = tokens.map(digestOf);
  // A token proves more than a name; a port that others reach is asked under names that we cannot know.
  const isNamedLoopback = tokens.length === 0 && isLoopbackAddress(host);
  return ok((headers) => {
    const name = textOf(headers[":authority"] ?? headers.host) ?? "";
    if (isNamedLoopback && !isLoopbackName(name)) return FOREIGN_HOST;
    const origin = textOf(headers.origin) ?? null;
    const site = textOf(headers["sec-fetch-site"]) ?? null;
    if (isForeignOrigin({ origin, site, host: name })) return FOREIGN_ORIGIN;
    return tokens.length === 0 || isKnown(digests, textOf(headers.authorization)) ? undefined : TOKEN_MISSING;
  });
}

const FOREIGN_HOST = failure(
  "otlp.host",
  "without tokens spans are taken under localhost and 127.0.0.1 only: use such an address, or start it with a sender's token",
);

const FOREIGN_ORIGIN = failure(
  "otlp.origin",
  "a page from another origin may not send spans here: send them by a program",
);

const TOKEN_MISSING = failure(
  "otlp.token-missing",
  "send the header, or metadata, 'authorization: Bearer <token>' of this receiver",
);

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header);

function isKnown(digests: readonly Buffer[], authorization: string | undefined): boolean {
  const given = digestOf(/^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "");
  // All are compared, and digests have one length: the time tells nothing about any token.
  let isOne = false;
  for (const digest of digests) if (timingSafeEqual(digest, given)) isOne = true;
  return isOne;
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();
