/**
 * Environments of this process, offered to others over HTTP/2 (gRPC) and, on a port of its own, call by call over HTTP/1.1.
 * Owns: the socket, what may be bound without a token, limits, the timer that forgets idle sessions, stopping.
 * Not here: the conversation on a stream (session-stream.ts).
 *
 * The first socket speaks HTTP/2 without TLS and nothing else, so no page in a browser can talk to it; the second turns pages away
 * (plain-http.ts). Beyond a trusted network, put a proxy with TLS in front: tokens travel as they are.
 */
import { createServer as createCallServer } from "node:http";
import { createServer, type Http2Session } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Clock, err, type Failure, failure, type Ms, milliseconds, ok, type Result } from "../../base/index.ts";
import { type EnvConfig, makeEnv } from "../../learn/env/index.ts";
import { systemClock } from "../runtime/index.ts";
import { accessCheckFor } from "./env-access.ts";
import { EnvService } from "./generated/coxswain/env/v1/env_pb.ts";
import type { HostedWorld } from "./hosted-session.ts";
import { withoutPages } from "./plain-http.ts";
import { type StreamHost, serveCall, serveStream } from "./session-stream.ts";
import { SessionTable } from "./session-table.ts";

export interface EnvServerOptions {
  /** 127.0.0.1 unless said; any address that others can reach needs a token. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Where calls over HTTP/1.1 are answered too, one at a time; 0 takes a free port, and unless given there is none. */
  readonly callPort?: number;
  /** Access tokens; with at least one, every client must send one. */
  readonly tokens?: readonly string[];
  /** Makes a world by its id and settings; the registry of `coxswain/env` unless said. */
  readonly open?: (id: string, config: EnvConfig) => HostedWorld | Promise<HostedWorld>;
  /** Sessions kept at a time; 64 unless said. */
  readonly maxSessions?: number;
  /** The largest message in either direction; 1 MiB unless said. */
  readonly maxMessageBytes?: number;
  /** A session without a message for so long is forgotten; 10 minutes unless said. */
  readonly idle?: Ms;
  readonly clock?: Clock;
  /** Told about what a world threw without a code; write it to the log. */
  readonly onDefect?: (thrown: unknown) => void;
}

export interface EnvServer {
  readonly url: string;
  readonly port: number;
  /** For calls over HTTP/1.1; undefined where there is no port for them. */
  readonly callUrl: string | undefined;
  /** Sessions kept now. */
  readonly sessions: number;
  /** Forgets every session and lets go of the port. */
  close(): Promise<void>;
}

const HELLO = milliseconds(10_000);

export async function serveEnvs(options: EnvServerOptions = {}): Promise<Result<EnvServer>> {
  const { host = "127.0.0.1", port = 0, maxSessions = 64, maxMessageBytes = 1 << 20 } = options;
  const { clock = systemClock, idle = milliseconds(600_000) } = options;
  const check = accessCheckFor(host, options.tokens ?? []);
  if (!check.ok) return check;
  const table = new SessionTable({ clock, maxSessions, idle });
  const streams: StreamHost = {
    table,
    open: options.open ?? ((id, config) => makeEnv<unknown, unknown>(id, { config })),
    onDefect: options.onDefect ?? (() => undefined),
    idle,
    hello: HELLO,
  };
  const limits = {
    readMaxBytes: maxMessageBytes,
    writeMaxBytes: maxMessageBytes,
    // Each message is a few hundred bytes that must not wait: packing them costs more than it saves.
    acceptCompression: [],
  };
  const streamed = connectNodeAdapter({
    ...limits,
    connect: false,
    grpcWeb: false,
    routes: (router) =>
      router.service(EnvService, {
        session(requests, context) {
          check.value(context.requestHeader);
          return serveStream(streams, requests, context);
        },
      }),
  });
  const called = connectNodeAdapter({
    ...limits,
    grpc: false,
    grpcWeb: false,
    routes: (router) =>
      router.service(EnvService, {
        call(message, context) {
          check.value(context.requestHeader);
          return serveCall(streams, message);
        },
      }),
  });
  // A client has one stream; some more let it return before the host saw the old one break.
  const server = createServer({ settings: { maxConcurrentStreams: maxSessions + 16 } }, streamed);
  const connections = new Set<Http2Session>();
  server.on("session", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // A connection that breaks is seen by its streams; without a listener it would end the process.
    connection.on("error", () => undefined);
  });
  const listening = await listen(server, { host, port });
  if (!listening.ok) return listening;
  const hasTokens = (options.tokens ?? []).length > 0;
  // A learner may think longer between two calls than a page would.
  const calls = createCallServer({ keepAliveTimeout: idle }, withoutPages(called, { hasTokens }));
  const { callPort } = options;
  const answering = callPort === undefined ? undefined : await listen(calls, { host, port: callPort });
  if (answering !== undefined && !answering.ok) {
    server.close();
    return answering;
  }
  const sweeper = setInterval(() => table.sweep(), Math.max(10, Math.min(idle / 4, 60_000)));
  sweeper.unref();

  const urlOf = (bound: number): string => `http://${shownHost(host)}:${bound}`;
  return ok({
    url: urlOf(listening.value),
    port: listening.value,
    callUrl: answering === undefined ? undefined : urlOf(answering.value),
    get sessions() {
      return table.size;
    },
    close: () =>
      new Promise<void>((resolve) => {
        clearInterval(sweeper);
        server.close(() => resolve());
        calls.close();
        calls.closeAllConnections();
        table.clear();
        for (const connection of connections) connection.destroy();
      }),
  });
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<Result<number>> {
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once("error", resolve);
    server.listen({ host, port }, () => resolve(null));
  });
  return failed === null ? ok((server.address() as AddressInfo).port) : err(bindFailure(failed, { host, port }));
}

function bindFailure(cause: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Failure {
  const why = cause.code === "EADDRINUSE" ? "another program listens there" : (cause.code ?? cause.message);
  return failure(
    "env.bind",
    `environments cannot be served on ${host}:${port} (${why}); choose another address or port`,
    { cause },
  );
}

function shownHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
