/**
 * Spans over HTTP: OTLP as protobuf and JSON on /v1/traces, Zipkin's JSON on /api/v2/spans, Jaeger's JSON on /api/traces.
 * Owns: the socket, which path and content type mean which format, and that nothing a sender does brings it down.
 * Not here: bodies (http-body.ts), answers (http-answers.ts), decoding (intake.ts).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Failure, failure } from "../../base/index.ts";
import type { SpanDoor } from "./door.ts";
import { type Answer, failureAnswer, successAnswer } from "./http-answers.ts";
import { type BodyLimits, encodingOf, readBody } from "./http-body.ts";
import { retryAfterOf, type SpanFormat, type SpanIntake } from "./intake.ts";

export interface HttpReceiverOptions extends BodyLimits {
  readonly intake: SpanIntake;
  readonly door: SpanDoor;
  /** Requests being read or unpacked at a time; more are asked to come back. */
  readonly maxConcurrent: number;
  /** Told about what should not have happened; write it to the log. */
  readonly onDefect: (thrown: unknown) => void;
}

const PROTO_TYPES = new Set(["application/x-protobuf", "application/protobuf"]);

export function httpReceiver(options: HttpReceiverOptions): Server {
  let underWay = 0;
  const server = createServer(
    // A sender that sends a byte now and then holds no connection.
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000, maxHeaderSize: 16_384 },
    (request, response) => {
      underWay += 1;
      answerTo(request, { ...options, isCrowded: underWay > options.maxConcurrent })
        .catch((thrown: unknown): Answer => {
          options.onDefect(thrown);
          const text = "the receiver failed in an unexpected way; its log says how";
          return failureAnswer(options.intake.refuse(failure("otlp.defect", text)), undefined, 1);
        })
        .then((answer) => send(response, answer))
        .catch(options.onDefect)
        .finally(() => {
          underWay -= 1;
        });
    },
  );
  server.maxConnections = 1_000;
  // What is not even HTTP gets a plain 400 and the end of the connection.
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    else socket.destroy();
  });
  return server;
}

async function answerTo(
  request: IncomingMessage,
  { intake, door, isCrowded, ...limits }: HttpReceiverOptions & { readonly isCrowded: boolean },
): Promise<Answer> {
  const format = formatOf(request);
  const refused = (problem: Failure): Answer => {
    const known = typeof format === "string" ? format : undefined;
    return failureAnswer(intake.refuse(problem), known, retryAfterOf(problem));
  };
  if (!door(request.headers.authorization))
    return refused(failure("otlp.token-missing", "send the header 'authorization: Bearer <token>' of this receiver"));
  if (typeof format !== "string") return refused(format);
  if (encodingOf(request) === undefined) {
    const text = `the Content-Encoding '${shown(request.headers["content-encoding"])}' is not known: send gzip, deflate or none`;
    return refused(failure("otlp.content-encoding", text));
  }
  if (isCrowded)
    return refused(failure("otlp.busy", "too many requests are under way: send it again in 1 s", { retry: true }));
  const body = await readBody(request, limits);
  if (!body.ok) return refused(body.failure);
  const taken = intake.take(body.value, format);
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
