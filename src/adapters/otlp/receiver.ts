/**
 * Both listeners for spans, on OTLP's standard ports.
 * Owns: opening and closing them together. Not here: what they take (http-receiver.ts, grpc-receiver.ts).
 *
 * A receiver holds nothing between two requests: it decodes a batch and gives it to its sink. Any number of them may stand
 * before one owner of the store, each with a forwarding sink (forward.ts).
 */
import type { Http2Session } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { err, failure, ok, type Result } from "../../base/index.ts";
import type { SpanSink } from "../../observe/telemetry/index.ts";
import { accessCheck } from "./access.ts";
import { Admission } from "./admission.ts";
import { grpcReceiver } from "./grpc-receiver.ts";
import { httpReceiver, type ReceiverOptions } from "./http-receiver.ts";
import { type IntakeCounts, SpanIntake } from "./intake.ts";
import { defaultListenerLimits, type ListenerLimits } from "./listener-limits.ts";

export interface SpanReceiverOptions {
  readonly sink: SpanSink;
  /** 127.0.0.1 unless said. */
  readonly host?: string;
  /** 4318 unless said; 0 for any that is free, null for none. */
  readonly httpPort?: number | null;
  /** 4317 unless said; 0 for any that is free, null for none. */
  readonly grpcPort?: number | null;
  /** With at least one, every sender must send one. */
  readonly tokens?: readonly string[];
  /** No token is asked for although others can reach the ports. */
  readonly isTrustedNetwork?: boolean;
  /** Of one request, as it comes; 8 MiB unless said. */
  readonly maxBodyBytes?: number;
  /** What one request unpacks to; 32 MiB unless said. */
  readonly maxInflatedBytes?: number;
  /** Of all requests that are being read or unpacked, of which one sender may have half; 128 MiB unless said. */
  readonly maxHeldBytes?: number;
  readonly limits?: Partial<ListenerLimits>;
  readonly onDefect?: (thrown: unknown) => void;
}

export interface SpanReceiver {
  /** Null where nothing listens. */
  readonly httpPort: number | null;
  readonly grpcPort: number | null;
  counts(): IntakeCounts;
  close(): Promise<void>;
}

export async function openSpanReceiver(options: SpanReceiverOptions): Promise<Result<SpanReceiver>> {
  const { sink, host = "127.0.0.1", tokens = [], isTrustedNetwork = false } = options;
  const { httpPort = 4318, grpcPort = 4317, maxHeldBytes = 128 * 2 ** 20, onDefect = () => undefined } = options;
  const { maxBodyBytes = 8 * 2 ** 20, maxInflatedBytes = 32 * 2 ** 20 } = options;
  const access = accessCheck({ host, tokens, isTrustedNetwork });
  if (!access.ok) return access;
  const intake = new SpanIntake(sink);
  const admission = new Admission({ intake, maxBodyBytes, maxInflatedBytes, maxHeldBytes });
  const limits = { ...defaultListenerLimits, ...options.limits };
  const shared: ReceiverOptions = { intake, admission, access: access.value, limits, onDefect };
  const opened: Opened[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(opened.map(({ close }) => close()));
  };
  const ports: (number | null)[] = [];
  const makers = [
    { port: httpPort, make: () => httpReceiver(shared) },
    { port: grpcPort, make: () => grpcReceiver(shared) },
  ];
  for (const { port, make } of makers) {
    if (port === null) {
      ports.push(null);
      continue;
    }
    const bound = await open(make(), { host, port });
    if (!bound.ok) {
      await closeAll();
      return bound;
    }
    opened.push(bound.value);
    ports.push(bound.value.port);
  }
  return ok({
    httpPort: ports[0] ?? null,
    grpcPort: ports[1] ?? null,
    counts: () => intake.counts(),
    close: closeAll,
  });
}

interface Opened {
  readonly port: number;
  close(): Promise<void>;
}

async function open(server: Server, { host, port }: { host: string; port: number }): Promise<Result<Opened>> {
  const sessions = new Set<Http2Session>();
  server.on("session", (session: Http2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once("error", resolve);
    server.listen({ host, port }, () => resolve(null));
  });
  if (failed !== null) {
    const why = failed.code === "EADDRINUSE" ? "another program listens there" : (failed.code ?? failed.message);
    const text = `spans cannot be received on ${host}:${port} (${why}): stop the other program or choose another port`;
    return err(failure("otlp.bind", text, { cause: failed }));
  }
  return ok({
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
        if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
          server.closeAllConnections();
      }),
  });
}
