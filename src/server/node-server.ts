/**
 * The app on a socket of this machine.
 * Owns: binding, what may be bound without tokens, time limits of connections, the headers of every answer, closing
 * gracefully. Not here: what is answered (app.ts).
 */
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { err, type Failure, failure, isLoopbackAddress, ok, type Result } from "../base/index.ts";
import type { ControlPlane } from "../contract/index.ts";
import { type Access, SHORTEST_SECRET, type Token } from "./access.ts";
import { type App, type AppOptions, createApp } from "./app.ts";
import { limitConnections } from "./connections.ts";
import { defaultLimits } from "./limits.ts";

export interface ServerOptions extends Omit<AppOptions, "access"> {
  /** 127.0.0.1 unless said. */
  readonly host?: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly tokens?: readonly Token[];
  /** For the whole head of a request; ten seconds unless said. */
  readonly headersMs?: number;
  /** A connection was closed, or not taken, because there are too many. */
  readonly onCrowded?: () => void;
}

export interface RunningServer {
  /** For a person: `http://127.0.0.1:7070`. */
  readonly url: string;
  readonly port: number;
  readonly app: App;
  /** Ends the streams, lets requests that are under way finish for `graceMs`, then lets go of the port. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const GRACE_MS = 3_000;
const IDLE_LOOK_MS = 50;
const HEADERS_MS = 10_000;
/** How often slow connections are looked for: Node's own thirty seconds would let a ten-second limit be forty. */
const SLOW_LOOK_MS = 1_000;

/** Of every answer, whoever makes it; one that brings its own keeps that. */
const securityHeaders = Object.entries({
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
});

/**
 * Whether a server could be opened here, without one: tokens, address and port. The port is held until `release`, so that
 * several can be tried together.
 */
export async function tryAddress({
  host,
  port,
  tokens,
}: Required<Pick<ServerOptions, "host" | "port" | "tokens">>): Promise<Result<{ release(): Promise<void> }>> {
  const access = accessFor(host, tokens);
  if (!access.ok) return access;
  const probe = createSocketServer((socket) => socket.destroy());
  const failed = await bind(probe, { host, port });
  if (failed !== null) return err(failed);
  return ok({ release: () => new Promise((resolve) => probe.close(() => resolve())) });
}

export async function openServer({
  plane,
  options,
}: {
  readonly plane: ControlPlane;
  readonly options: ServerOptions;
}): Promise<Result<RunningServer>> {
  const { host = "127.0.0.1", port, tokens = [], headersMs = HEADERS_MS, onCrowded, ...appOptions } = options;
  const access = accessFor(host, tokens);
  if (!access.ok) return access;
  const app = createApp({ plane, options: { ...appOptions, access: access.value } });
  const answer: Parameters<typeof getRequestListener>[0] = (request, { incoming }) =>
    app.fetch(request, { admitted: () => connections.admitted(incoming.socket) });
  const listener = getRequestListener(answer, {
    // With its own Response, whose body goes to the socket as it is: the platform's would be read back from a stream,
    // which takes about as long as all the rest of an answer.
    overrideGlobalObjects: true,
    // What is not even a request (no Host, an impossible address) does not reach the app.
    errorHandler: () => new Response(null, { status: 400 }),
  });
  const server = createServer(
    {
      // Headers within 10 s, the whole request within 30 s: a client that sends a byte now and then holds no connection.
      headersTimeout: headersMs,
      requestTimeout: 30_000,
      connectionsCheckingInterval: SLOW_LOOK_MS,
      // Longer than the minute after which proxies close what nobody uses: a server that closes first may do so at the
      // moment at which the next request is on its way, and that one gets no answer.
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
    },
    (incoming, outgoing) => {
      for (const [name, value] of securityHeaders) outgoing.setHeader(name, value);
      void listener(incoming, outgoing);
    },
  );
  const connections = limitConnections(server, {
    most: options.limits?.connections ?? defaultLimits.connections,
    ...(onCrowded ? { onCrowded } : {}),
  });

  const failed = await bind(server, { host, port });
  if (failed !== null) {
    app.close();
    return err(failed);
  }
  const bound = (server.address() as AddressInfo).port;

  let closing: Promise<void> | undefined;
  const close = (graceMs: number): Promise<void> =>
    new Promise((resolve) => {
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      // Connections become idle as their last answers end, and would then be kept for the next request.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
      server.close(() => {
        clearTimeout(force);
        clearInterval(idle);
        resolve();
      });
      app.close();
    });

  return ok({
    url: `http://${shownHost(host)}:${bound}`,
    port: bound,
    app,
    close({ graceMs = GRACE_MS } = {}) {
      closing ??= close(graceMs);
      return closing;
    },
  });
}

function accessFor(host: string, tokens: readonly Token[]): Result<Access> {
  const weak = tokens.find(({ secret }) => secret.length < SHORTEST_SECRET || /\s/.test(secret));
  if (weak !== undefined) {
    return err(
      failure(
        "server.token-weak",
        `the token of '${weak.name}' is shorter than ${SHORTEST_SECRET} characters or has spaces: use a longer random one`,
      ),
    );
  }
  if (tokens.length > 0) return ok({ kind: "tokens", tokens });
  if (isLoopbackAddress(host)) return ok({ kind: "loopback" });
  return err(
    failure(
      "server.token-required",
      `'${host}' can be reached by others, and no token is set: bind 127.0.0.1, or give a token of the role viewer or operator`,
    ),
  );
}

const bind = (server: Server, at: { readonly host: string; readonly port: number }): Promise<Failure | null> =>
  new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(bindFailure(error, at)));
    server.listen(at, () => resolve(null));
  });

function bindFailure(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }) {
  const cause = { cause: error };
  switch (error.code) {
    case "EADDRINUSE":
      return failure(
        "server.port-taken",
        `port ${port} of ${host} is taken by another program: choose another with --port`,
        cause,
      );
    case "EACCES":
      return failure(
        "server.port-forbidden",
        `port ${port} needs rights that this user does not have: choose one above 1023`,
        cause,
      );
    default:
      return failure(
        "server.bind",
        `${host}:${port} cannot be bound (${error.code ?? error.message}): check the address`,
        cause,
      );
  }
}

function shownHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
