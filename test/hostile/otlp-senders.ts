/**
 * Who sends spans: one sender that does all right, and those who do not.
 * Owns: requests over HTTP and gRPC, uploads that are broken off, connections that are slow. Not here: what is sent
 * (otlp-messages.ts), what must be true of the answers (otlp.test.ts).
 */
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { createConnection, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { protoOf, traceOf } from "./otlp-messages.ts";

export interface Answer {
  /** Of HTTP, or of gRPC; "none" where the connection ended without one. */
  readonly status: string;
  /** An empty body says that all was used. */
  readonly bytes: number;
}

const NONE: Answer = { status: "none", bytes: 0 };
const TIMEOUT_MS = 20_000;
const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

export interface HttpMessage {
  readonly url: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
}

export function post({ url, body, headers, agent }: HttpMessage): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": body.length } });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy());
    sent.once("response", (answer) => {
      let bytes = 0;
      answer.on("data", (part: Buffer) => {
        bytes += part.length;
      });
      answer.once("end", () => resolve({ status: String(answer.statusCode), bytes }));
      answer.once("close", () => resolve(NONE));
      answer.on("error", () => resolve(NONE));
    });
    sent.on("error", () => resolve(NONE));
    sent.end(body);
  });
}

/** `bytes` as they come: a frame, or what is left of one. */
export function call(session: ClientHttp2Session, bytes: Uint8Array, isPacked: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) return resolve(NONE);
    const stream = session.request({
      ":method": "POST",
      ":path": EXPORT,
      "content-type": "application/grpc",
      te: "trailers",
      ...(isPacked ? { "grpc-encoding": "gzip" } : {}),
    });
    let status = "none";
    let received = 0;
    const note = (fields: Record<string, unknown>): void => {
      if (fields["grpc-status"] !== undefined) status = String(fields["grpc-status"]);
    };
    stream.setTimeout(TIMEOUT_MS, () => stream.destroy());
    stream.on("response", note).on("trailers", note);
    stream.on("data", (part: Buffer) => {
      received += part.length;
    });
    stream.on("error", () => undefined);
    // Five bytes are the frame of an empty message.
    stream.once("close", () => resolve({ status, bytes: Math.max(0, received - 5) }));
    stream.end(bytes);
  });
}

export const sessionTo = (address: string): ClientHttp2Session => connect(address).on("error", () => undefined);

/** `claims`: the length that is written before the message; its own unless somebody lies. */
export function frameOf(message: Uint8Array, { isPacked = false, claims = message.length } = {}): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = isPacked ? 1 : 0;
  head.writeUInt32BE(claims, 1);
  return Buffer.concat([head, message]);
}

/** A socket that says `first` and then whatever it is told to; errors of it are nobody's. */
export function socketTo(address: string, first: string | Uint8Array): Socket {
  const { hostname, port } = new URL(address);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => undefined).resume();
  socket.write(first);
  return socket;
}

export const headOf = (type: string, length: number): string =>
  `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;

/** One sender as OpenTelemetry's exporters are: one request at a time, and the next when it is answered. */
export class GoodSender {
  readonly acknowledged: string[] = [];
  readonly tookMs: number[] = [];
  readonly statuses = new Map<string, number>();
  sent = 0;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #session: ClientHttp2Session | undefined;

  readonly #to: { readonly http: string; readonly grpc: string };

  constructor(to: { readonly http: string; readonly grpc: string }) {
    this.#to = to;
  }

  /** Until told to stop, every 20 ms, over HTTP and gRPC in turn. */
  async go(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#one();
      await after(20);
    }
    this.#agent.destroy();
    this.#session?.destroy();
  }

  async #one(): Promise<void> {
    this.sent += 1;
    // Nobody else's begin so.
    const traceId = `900d${this.sent.toString(16).padStart(28, "0")}`;
    const body = protoOf(traceOf(traceId));
    const began = performance.now();
    const isGrpc = this.sent % 2 === 0;
    const { status, bytes } = isGrpc
      ? await call(this.#opened(), frameOf(body), false)
      : await post({
          url: `${this.#to.http}/v1/traces`,
          body,
          headers: { "content-type": "application/x-protobuf" },
          agent: this.#agent,
        });
    this.tookMs.push(performance.now() - began);
    const said = `${isGrpc ? "gRPC" : "HTTP"} ${status}${bytes > 0 ? " in part" : ""}`;
    this.statuses.set(said, 1 + (this.statuses.get(said) ?? 0));
    if (said === "HTTP 200" || said === "gRPC 0") this.acknowledged.push(traceId);
  }

  #opened(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed)
      this.#session = sessionTo(this.#to.grpc);
    return this.#session;
  }
}
