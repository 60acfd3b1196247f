/**
 * Spans over gRPC: OTLP's TraceService/Export.
 * Owns: gRPC's own part of a unary call: the frame around the message, its status, its trailers. Not here: what a message
 * may cost (admission.ts), decoding (intake.ts).
 *
 * A library is not used because it reads and unpacks messages before anybody can say who has had how much: a hundred calls
 * of one connection were a hundred messages in memory. Of gRPC this takes what a service of one unary call needs.
 */
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { err, type Failure, failure, ok, type Result } from "../../base/index.ts";
import { senderOf } from "./admission.ts";
import { Connections, type TrackedConnection } from "./connections.ts";
import { partialSuccess } from "./http-answers.ts";
import { encodingOf, IDENTITY, unbroken } from "./http-body.ts";
import type { ReceiverOptions } from "./http-receiver.ts";
import { retryAfterOf } from "./intake.ts";

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const CONTENT_TYPE = "application/grpc";
/** A byte that says whether the message is packed, four for its length. */
const FRAME_BYTES = 5;

/** Of gRPC's status codes. */
const OK = 0;
const INVALID_ARGUMENT = 3;
const STATUSES = new Map<string, number>([
  ["otlp.host", 7],
  ["otlp.origin", 7],
  ["otlp.too-large", 8],
  ["otlp.too-many", 8],
  ["otlp.content-encoding", 12],
  ["otlp.path", 12],
  ["otlp.defect", 13],
  ["otlp.busy", 14],
  ["otlp.token-missing", 16],
]);

export function grpcReceiver(options: ReceiverOptions): Http2Server {
  const { intake, limits, onDefect } = options;
  const connections = new Connections({ most: limits.connections });
  const tracked = new WeakMap<object, TrackedConnection>();
  const server = createServer({ settings: { maxConcurrentStreams: 100 } });
  server.on("session", (session) => {
    // A connection that breaks is seen by its streams; without a listener it would end the process.
    session.on("error", () => undefined);
    const connection = connections.add(() => session.destroy());
    if (connection === undefined) {
      session.destroy();
      return;
    }
    tracked.set(session, connection);
    session.once("close", () => connection.remove());
  });
  server.on("sessionError", () => undefined);
  // HTTP/2 of Node has no time limits of its own.
  const look = setInterval(
    () => connections.sweep({ firstMs: limits.headersMs, idleMs: GRPC_IDLE * limits.idleMs }),
    limits.lookMs,
  );
  look.unref();
  server.on("close", () => clearInterval(look));
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => undefined);
    const end = stream.session === undefined ? undefined : tracked.get(stream.session)?.begin();
    const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limits.requestMs);
    stream.once("close", () => {
      clearTimeout(late);
      end?.();
    });
    answerTo(stream, headers, options)
      .catch((thrown: unknown): GrpcAnswer => {
        onDefect(thrown);
        const text = "the receiver failed in an unexpected way; its log says how";
        return refusal(intake.refuse(failure("otlp.defect", text)));
      })
      .then((answer) => send(stream, answer))
      .catch(onDefect);
  });
  return server;
}

/** Clients of gRPC keep a connection for long, and are told before it is closed. */
const GRPC_IDLE = 10;

type GrpcAnswer =
  | { readonly message: Uint8Array }
  | { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> };

async function answerTo(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { intake, admission, access }: ReceiverOptions,
): Promise<GrpcAnswer> {
  const refused = (why: Failure): GrpcAnswer => refusal(intake.refuse(why));
  const mayNot = access(headers);
  if (mayNot !== undefined) return refused(mayNot);
  const type = String(headers["content-type"] ?? "");
  const isCall = headers[":path"] === PATH && headers[":method"] === "POST" && type.startsWith(CONTENT_TYPE);
  if (!isCall) return refused(failure("otlp.path", `there is nothing here: gRPC's clients call ${PATH.slice(1)}`));
  const encoding = encodingOf(headers["grpc-encoding"]);
  if (encoding === undefined)
    return refused(failure("otlp.content-encoding", "the grpc-encoding is not known: send gzip, deflate or identity"));
  const taken = await admission.take({
    sender: senderOf(stream.session?.socket ?? {}),
    parts: unbroken(stream),
    length: headers["content-length"],
    format: "otlp-proto",
    unframe: (body) => unframed(body, encoding),
  });
  if (!taken.ok) return refusal(taken.failure);
  const { unused, why } = taken.value;
  return { message: unused > 0 ? partialSuccess(unused, why) : new Uint8Array(0) };
}

/** The one message of a unary call. */
function unframed(body: Buffer, encoding: string): Result<{ readonly message: Buffer; readonly encoding: string }> {
  const isWhole = body.length >= FRAME_BYTES && body.readUInt32BE(1) === body.length - FRAME_BYTES;
  const flag = body[0] ?? 0;
  if (!isWhole || flag > 1)
    return err(failure("otlp.malformed", "the call has no whole message of gRPC: check what lies between it and here"));
  return ok({ message: body.subarray(FRAME_BYTES), encoding: flag === 1 ? encoding : IDENTITY });
}

function refusal(problem: Failure): GrpcAnswer {
  const status = STATUSES.get(problem.code) ?? INVALID_ARGUMENT;
  const text = problem.message;
  if (problem.code === "otlp.content-encoding")
    return { status, text, headers: { "grpc-accept-encoding": "identity,gzip,deflate" } };
  if (problem.code !== "otlp.busy") return { status, text };
  // As OTLP asks, senders may come back after UNAVAILABLE; the time is also told where gRPC's clients look for it.
  return { status, text, headers: { "grpc-retry-pushback-ms": String(1_000 * retryAfterOf(problem)) } };
}

function send(stream: ServerHttp2Stream, answer: GrpcAnswer): void {
  if (stream.destroyed || stream.closed) return;
  const head = { ":status": 200, "content-type": CONTENT_TYPE };
  if ("message" in answer) {
    stream.respond(head, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(OK) }));
    const frame = Buffer.alloc(FRAME_BYTES + answer.message.length);
    frame.writeUInt32BE(answer.message.length, 1);
    frame.set(answer.message, FRAME_BYTES);
    stream.end(frame);
    return;
  }
  const { status, text, headers } = answer;
  const told = { "grpc-status": String(status), "grpc-message": encodeURIComponent(text), ...headers };
  stream.respond({ ...head, ...told }, { endStream: true });
  // The rest of a message that was refused is not waited for.
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}
