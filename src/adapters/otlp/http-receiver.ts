/**
 * Spans over HTTP: OTLP as protobuf and JSON on /v1/traces, Zipkin's JSON on /api/v2/spans, Jaeger's JSON on /api/traces.
 * Owns: the socket, which path and content type mean which format, and that nothing a sender does brings it down.
 * Not here: bodies (http-body.ts), answers (http-answers.ts), decoding (intake.ts).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Failure, failure } from "../../base/index.ts";
import type { SpanDoor } from "./door.ts";
import { type Answer, failureAnswer, successAnswer } from "./http-answers.ts";
import { ByteBudget, encodingOf, readBody, unpackBody } from "./http-body.ts";
import { retryAfterOf, type SpanFormat, type SpanIntake } from "./intake.ts";

export interface HttpReceiverOptions {
  readonly intake: SpanIntake;
  readonly door: SpanDoor;
  /** Of one request, as it comes over the network. */
  readonly maxBodyBytes: number;
  /** Of one request, unpacked; one is unpacked at a time. */
  readonly maxInflatedBytes: number;
  /** Of all requests that are being read; more are asked to come back. */
  readonly maxHeldBytes: number;
  /** Told about what should not have happened; write it to the log. */
  readonly onDefect: (thrown: unknown) => void;
}

const PROTO_TYPES = new Set(["application/x-protobuf", "application/protobuf"]);

export function httpReceiver(options: HttpReceiverOptions): Server {
  const budget = new ByteBudget(options.maxHeldBytes);
  const inTurn = turns();
  const server = createServer(
    // A sender that sends a byte now and then holds no connection.
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000, maxHeaderSize: 16_384 },
    (request, response) => {
      answerTo(request, { ...options, budget, inTurn })
        .catch((thrown: unknown): Answer => {
          options.onDefect(thrown);
          const text = "the receiver failed in an unexpected way; its log says how";
          return failureAnswer(options.intake.refuse(failure("otlp.defect", text)), undefined, 1);
        })
        .then((answer) => send(response, answer))
        .catch(options.onDefect);
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

/** Runs one job after the other: what bodies unpack to is held once, however many come. */
function turns(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job);
    last = result.catch(() => undefined);
    return result;
  };
}

interface Shared extends HttpReceiverOptions {
  readonly budget: ByteBudget;
  readonly inTurn: ReturnType<typeof turns>;
}

async function answerTo(request: IncomingMessage, shared: Shared): Promise<Answer> {
  const { intake, door, budget, inTurn, maxBodyBytes, maxInflatedBytes } = shared;
  const format = formatOf(request);
  const refused = (problem: Failure): Answer => {
    const known = typeof format === "string" ? format : undefined;
    return failureAnswer(intake.refuse(problem), known, retryAfterOf(problem));
  };
  if (!door(request.headers.authorization))
    return refused(failure("otlp.token-missing", "send the header 'authorization: Bearer <token>' of this receiver"));
  if (typeof format !== "string") return refused(format);
  const encoding = encodingOf(request);
  if (encoding === undefined) {
    const text = `the Content-Encoding '${shown(request.headers["content-encoding"])}' is not known: send gzip, deflate or none`;
    return refused(failure("otlp.content-encoding", text));
  }
  const packed = await readBody(request, { maxBodyBytes, budget });
  if (!packed.ok) return refused(packed.failure);
  try {
    return await inTurn(async () => {
      const body = await unpackBody(packed.value, { encoding, maxInflatedBytes });
      if (!body.ok) return refused(body.failure);
      const taken = intake.take(body.value, format);
      if (taken.ok) return successAnswer(format, taken.value);
      return failureAnswer(taken.failure, format, retryAfterOf(taken.failure));
    });
  } finally {
    budget.giveBack(packed.value.length);
  }
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
