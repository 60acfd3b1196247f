/**
 * Who may ask for what.
 * Owns: bearer tokens and their roles, and when Host and Origin are looked at. Not here: what they tell
 * (base/own-requests.ts), which address is bound (node-server.ts), how often one may write (limits.ts).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Failure, failure, isForeignOrigin, isLoopbackName } from "../base/index.ts";

export type Role = "viewer" | "operator";

export interface Token {
  /** Who it stands for, in the audit log. */
  readonly name: string;
  readonly role: Role;
  readonly secret: string;
}

export type Access =
  /** Whoever reaches it may do everything: for loopback only. */
  { readonly kind: "loopback" } | { readonly kind: "tokens"; readonly tokens: readonly Token[] };

export interface Principal {
  readonly name: string;
  readonly role: Role;
}

/** Who asks, and why they may not, if so. */
export interface Admission {
  readonly principal: Principal;
  readonly refused: Failure | null;
}

export interface Authenticator {
  admit(request: Request, needs: Role | "nobody"): Admission;
}

/** Shorter ones can be guessed. */
export const SHORTEST_SECRET = 16;

const NOBODY: Principal = { name: "nobody", role: "viewer" };
const LOOPBACK_USER: Principal = { name: "loopback", role: "operator" };

export const isSomebody = (principal: Principal): boolean => principal !== NOBODY;

export function createAuthenticator(access: Access): Authenticator {
  const digests =
    access.kind === "tokens" ? access.tokens.map((token) => ({ token, digest: digestOf(token.secret) })) : [];

  const bearer = (request: Request): Principal | undefined => {
    const given = /^Bearer +([^\s]+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (given === undefined) return undefined;
    const digest = digestOf(given);
    // Digests have one length, and all of them are compared: the time tells nothing about any secret.
    let found: Principal | undefined;
    for (const { token, digest: expected } of digests)
      if (timingSafeEqual(digest, expected)) found = { name: token.name, role: token.role };
    return found;
  };

  return {
    admit(request, needs) {
      const foreign = access.kind === "loopback" ? foreignHost(request) : undefined;
      const elsewhere = foreign ?? foreignOrigin(request);
      if (elsewhere !== undefined) return { principal: NOBODY, refused: elsewhere };
      if (access.kind === "loopback") return { principal: LOOPBACK_USER, refused: null };
      const principal = bearer(request);
      if (principal === undefined) return { principal: NOBODY, refused: needs === "nobody" ? null : TOKEN_MISSING };
      const mayNot = needs === "operator" && principal.role !== "operator";
      const text = `'${principal.name}' may look but not change: use a token of the role operator`;
      return { principal, refused: mayNot ? failure("server.role", text) : null };
    },
  };
}

const TOKEN_MISSING = failure(
  "server.token-missing",
  "this needs a valid token: send the header 'Authorization: Bearer <token>' with one of the tokens the server was started with",
);

const digestOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const hostOf = (request: Request): string => request.headers.get("host") ?? new URL(request.url).host;

function foreignHost(request: Request): Failure | undefined {
  if (isLoopbackName(hostOf(request)) && isLoopbackName(new URL(request.url).host)) return undefined;
  return failure(
    "server.host",
    "without tokens this server answers under localhost and 127.0.0.1 only: use such an address, or start it with tokens",
  );
}

function foreignOrigin(request: Request): Failure | undefined {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (!isForeignOrigin({ origin, site, host: hostOf(request) })) return undefined;
  return failure("server.origin", "a page from another origin may not change anything here: use the server's own page");
}
