/**
 * Environments of this process, offered to others over HTTP/2 (gRPC), and call by call over HTTP/1.1 (Connect, JSON).
 * Owns: the socket, what may be bound without a token, limits, the timer that forgets idle sessions, stopping.
 * Not here: the conversation on a stream (session-stream.ts).
 *
 * No page in a browser can talk to it (plain-http.ts). Beyond a trusted network, put a proxy with TLS in front: tokens travel as they are.
 */
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2, type Http2Session } from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Clock, err, type Failure, failure, type Ms, milliseconds, ok, type Result } from "../../base/index.ts";
import { type EnvConfig, makeEnv } from "../../learn/env/index.ts";
import { systemClock } from "../runtime/index.ts";
import { accessCheckFor } from "./env-access.ts";
import { EnvService } from "./generated/coxswain/env/v1/env_pb.ts";
import type { HostedWorld } from "./hosted-session.ts";
import { tellApart, withoutPages } from "./plain-http.ts";
import { type StreamHost, serveCall, serveStream } from "./session-stream.ts";
import { SessionTable } from "./session-table.ts";

export interface EnvServerOptions {
  /** 127.0.0.1 unless said; any address that others can reach needs a token. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
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
  const http2 = createHttp2({ settings: { maxConcurrentStreams: maxSessions + 16 } }, streamed);
  // A learner may think longer between two calls than a page would.
  const hasTokens = (options.tokens ?? []).length > 0;
  const http1 = createHttp1({ keepAliveTimeout: idle }, withoutPages(called, { hasTokens }));
  const connections = new Set<Http2Session | Socket>();
  http2.on("session", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // A connection that breaks is seen by its streams; without a listener it would end the process.
    connection.on("error", () => undefined);
  });
  const server = createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    tellApart(socket, {
      http1: (known) => http1.emit("connection", known),
      http2: (known) => http2.emit("connection", known),
      silence: HELLO,
    });
  });
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once("error", resolve);
    server.listen({ host, port }, () => resolve(null));
  });
  if (failed !== null) return err(bindFailure(failed, { host, port }));
  const bound = (server.address() as AddressInfo).port;
  const sweeper = setInterval(() => table.sweep(), Math.max(10, Math.min(idle / 4, 60_000)));
  sweeper.unref();

  return ok({
    url: `http://${shownHost(host)}:${bound}`,
    port: bound,
    get sessions() {
      return table.size;
    },
    close: () =>
      new Promise<void>((resolve) => {
        clearInterval(sweeper);
        server.close(() => resolve());
        table.clear();
        for (const connection of connections) connection.destroy();
      }),
  });
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
