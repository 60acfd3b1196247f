/**
 * Spans over HTTP: OTLP as protobuf and JSON on /v1/traces, Zipkin's JSON on /api/v2/spans, Jaeger's JSON on /api/traces.
 * Owns: the socket, which path and content type mean which format, and that nothing a sender does brings it down.
 * Not here: what a message may cost (admission.ts), answers (http-answers.ts), decoding (intake.ts).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Failure, failure, ok } from "../../base/index.ts";
import type { AccessCheck } from "./access.ts";
import { type Admission, senderOf } from "./admission.ts";
import { Connections, type TrackedConnection } from "./connections.ts";
import { type Answer, failureAnswer, successAnswer } from "./http-answers.ts";
import { encodingOf, unbroken } from "./http-body.ts";
import { retryAfterOf, type SpanFormat, type SpanIntake } from "./intake.ts";
import type { ListenerLimits } from "./listener-limits.ts";

export interface ReceiverOptions {
  readonly intake: SpanIntake;
  readonly admission: Admission;
  readonly access: AccessCheck;
  readonly limits: ListenerLimits;
  /** Told about what should not have happened; write it to the log. */
  readonly onDefect: (thrown: unknown) => void;
}

const PROTO_TYPES = new Set(["application/x-protobuf", "application/protobuf"]);

export function httpReceiver(options: ReceiverOptions): Server {
  const { intake, limits, onDefect } = options;
  const connections = new Connections({ most: limits.connections });
  const tracked = new WeakMap<object, TrackedConnection>();
  const server = createServer(
    {
      // A sender that sends a byte now and then holds no connection. Node looks for those every 30 s unless told otherwise.
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.lookMs,
      keepAliveTimeout: limits.idleMs,
      maxHeaderSize: 16_384,
    },
    (request, response) => {
      const end = tracked.get(request.socket)?.begin();
      if (end !== undefined) response.once("close", end);
      answerTo(request, options)
        .catch((thrown: unknown): Answer => {
          onDefect(thrown);
          const text = "the receiver failed in an unexpected way; its log says how";
          return failureAnswer(intake.refuse(failure("otlp.defect", text)), undefined, 1);
        })
        .then((answer) => send(response, answer))
        .catch(onDefect);
    },
  );
  server.on("connection", (socket) => {
    const connection = connections.add(() => socket.destroy());
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    tracked.set(socket, connection);
    socket.once("close", () => connection.remove());
  });
  // What is not even HTTP, or is too slow, gets a plain answer and the end of the connection.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    intake.refuse(failure("otlp.not-http", "what came is no request of HTTP, or did not come in time"));
    const isSlow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const status = isSlow ? "408 Request Timeout" : "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    else socket.destroy();
  });
  return server;
}

async function answerTo(request: IncomingMessage, { intake, admission, access }: ReceiverOptions): Promise<Answer> {
  const format = formatOf(request);
  const refused = (problem: Failure): Answer => {
    const known = typeof format === "string" ? format : undefined;
    return failureAnswer(intake.refuse(problem), known, retryAfterOf(problem));
  };
  const mayNot = access(request.headers);
  if (mayNot !== undefined) return refused(mayNot);
  if (typeof format !== "string") return refused(format);
  const encoding = encodingOf(request.headers["content-encoding"]);
  if (encoding === undefined) {
    const text = `the Content-Encoding '${shown(request.headers["content-encoding"])}' is not known: send gzip, deflate or none`;
    return refused(failure("otlp.content-encoding", text));
  }
  const taken = await admission.take({
    sender: senderOf(request.socket),
    parts: unbroken(request),
    length: request.headers["content-length"],
    format,
    unframe: (message) => ok({ message, encoding }),
  });
  if (taken.ok) return successAnswer(format, taken.value);
  return failureAnswer(taken.failure, format, retryAfterOf(taken.failure));
}

function formatOf(request: IncomingMessage): SpanFormat | Failure {
  const path = (request.url ?? "").split("?")[0];
  const formats = { "/v1/traces": "otlp-json", "/api/v2/spans": "zipkin-json", "/api/traces": "jaeger-json" } as const;
  const found = new Map(Object.entries(formats)).get(path ?? "");
  if (found === undefined)
    return failure(
      "otlp.path",
      "there is nothing here: OTLP goes to /v1/traces, Zipkin to /api/v2/spans, Jaeger to /api/traces",
    );
  if (request.method !== "POST") return failure("otlp.method", `${path} takes spans with POST and nothing else`);
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json") return found;
  if (found === "otlp-json" && PROTO_TYPES.has(type)) return "otlp-proto";
  const wanted = found === "otlp-json" ? "application/x-protobuf or application/json" : "application/json";
  return failure("otlp.content-type", `the content type '${shown(type)}' is not read on ${path}: send ${wanted}`);
}

/** A stranger's text in our answer: short, and without control characters. */
const shown = (text: string | undefined): string => (text ?? "").slice(0, 60).replaceAll(/[^\x20-\x7e]/g, "?");

function send(response: ServerResponse, { status, contentType, body, headers }: Answer): void {
  // Whoever broke off its upload hears nothing.
  if (response.destroyed) return;
  const isUnread = !response.req.complete;
  response.writeHead(status, {
    ...headers,
    ...(contentType === undefined ? {} : { "content-type": contentType }),
    "content-length": body?.length ?? 0,
    // Of a request that was refused before it was read, the rest is not waited for.
    ...(isUnread ? { connection: "close" } : {}),
  });
  response.end(body);
  if (isUnread) response.req.resume();
}
