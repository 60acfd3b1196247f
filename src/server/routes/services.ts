/**
 * What spans say about services: the graph, traces and their critical paths, paths over time, suspects, limits; and what a
 * person changes in the simulated application: anomalies, and whether anybody acts on them.
 * Owns: the routes. Not here: answers (the port's, on another thread), whether an anomaly may happen (its guard).
 */
import { z } from "@hono/zod-openapi";
import { err, failure, type Result } from "../../base/index.ts";
import type { ServicesCommand, ServicesPlane, ServicesQuestion } from "../../contract/index.ts";
import {
  actingDoneSchema,
  actingModeSchema,
  anomalyDoneSchema,
  anomalyWishSchema,
  graphSchema,
  instanceSchema,
  pageOf,
  pathsSchema,
  requestSchema,
  requestSloSchema,
  servicesSchema,
  suspectsSchema,
  traceSchema,
  traceSummarySchema,
} from "../../contract/schemas/index.ts";
import { type Answer, addEndpoint, type HonoApp, nameParameter, wholeParameter } from "../endpoint.ts";
import { createIdempotency, type Limits, type ServerClock, within } from "../limits.ts";
import type { ProblemStatus } from "../problem.ts";

export interface ServiceRoutes {
  readonly services: ServicesPlane | undefined;
  readonly limits: Limits;
  readonly clock: ServerClock;
}

const NONE = failure(
  "services.none",
  "no spans are taken here and no application is simulated: start it without --no-otlp, or with --application",
);
const PROBLEMS: readonly ProblemStatus[] = [404, 503, 504];
const SUSPECTS = 20;
const TRACES = 50;

export function addServiceRoutes(app: HonoApp, { services, limits, clock }: ServiceRoutes): void {
  const ask = (question: ServicesQuestion): Promise<Result<Uint8Array<ArrayBuffer>>> =>
    services === undefined
      ? Promise.resolve(err(NONE))
      : within(services.ask(question), { ms: limits.waitMs, clock, what: question.kind });
  const answer = async (question: ServicesQuestion): Promise<Answer<never>> => {
    const found = await ask(question);
    return found.ok ? { json: found.value } : { failure: found.failure };
  };

  addEndpoint(app, {
    id: "getServices",
    method: "get",
    path: "/v1/services",
    tag: "services",
    summary: "Where spans are taken, what came of them, and how the simulated application is doing.",
    answer: servicesSchema,
    problems: PROBLEMS,
    handle: () => answer({ kind: "services" }),
  });

  addEndpoint(app, {
    id: "getServiceGraph",
    method: "get",
    path: "/v1/services/graph",
    tag: "services",
    summary: "Who calls whom, how often, how long, how often it was critical, and who is to blame.",
    query: z.strictObject({
      from: time("The beginning; five minutes before the end if not said."),
      to: time("The end; now if not said."),
      of: z.enum(["services", "instances"]).optional().openapi({ description: "Vertices; services if not said." }),
    }),
    answer: graphSchema,
    problems: PROBLEMS,
    handle: ({ query: { of, ...span } }) => answer({ kind: "graph", of: of ?? "services", ...given(span) }),
  });

  addEndpoint(app, {
    id: "listSuspects",
    method: "get",
    path: "/v1/services/suspects",
    tag: "services",
    summary: "Which instances may be to blame for slow requests, likeliest first, with the reason.",
    query: z.strictObject({ limit: limitParameter(500, SUSPECTS) }),
    answer: suspectsSchema,
    problems: PROBLEMS,
    handle: ({ query }) => answer({ kind: "suspects", limit: query.limit ?? SUSPECTS }),
  });

  addEndpoint(app, {
    id: "listInstances",
    method: "get",
    path: "/v1/services/instances",
    tag: "services",
    summary: "The containers of the simulated application: five limits, and how much of each is used.",
    answer: pageOf("InstancePage", instanceSchema),
    problems: PROBLEMS,
    handle: () => answer({ kind: "instances" }),
  });

  addEndpoint(app, {
    id: "listRequests",
    method: "get",
    path: "/v1/services/requests",
    tag: "services",
    summary: "Request types with an SLO, how they are doing, and which of them break it now.",
    answer: pageOf("RequestTypePage", requestSchema),
    problems: PROBLEMS,
    handle: () => answer({ kind: "requests" }),
  });

  addEndpoint(app, {
    id: "getPaths",
    method: "get",
    path: "/v1/services/paths",
    tag: "services",
    summary: "Critical paths of one type of request over time, and where the time of each path goes.",
    query: z.strictObject({
      request: z.string().min(1).max(600).optional().openapi({
        description: "A request type as `requests` lists it; the most frequent one if not said.",
      }),
    }),
    answer: pathsSchema,
    problems: PROBLEMS,
    handle: ({ query }) => answer({ kind: "paths", ...given(query) }),
  });

  addEndpoint(app, {
    id: "listTraces",
    method: "get",
    path: "/v1/traces",
    tag: "services",
    summary: "Stored traces, newest or slowest first.",
    query: z.strictObject({
      service: z.string().min(1).max(300).optional().openapi({ description: "One that takes part." }),
      operation: z.string().min(1).max(300).optional().openapi({ description: "Of the root." }),
      from: time("That began then or later."),
      to: time("That began before."),
      leastMs: wholeParameter({ least: 0, most: 86_400_000 }).optional().openapi({ description: "That took so long." }),
      order: z.enum(["newest", "slowest"]).optional().openapi({ description: "Newest first if not said." }),
      limit: limitParameter(1_000, TRACES),
    }),
    answer: pageOf("TracePage", traceSummarySchema),
    problems: PROBLEMS,
    handle: ({ query: { order, limit, ...rest } }) =>
      answer({ kind: "traces", order: order ?? "newest", limit: limit ?? TRACES, ...given(rest) }),
  });

  addEndpoint(app, {
    id: "getTrace",
    method: "get",
    path: "/v1/traces/{id}",
    tag: "services",
    summary: "One trace with its critical path.",
    params: z.strictObject({ id: nameParameter("a trace") }),
    answer: traceSchema,
    problems: PROBLEMS,
    handle: ({ params }) => answer({ kind: "trace", id: params.id.toLowerCase() }),
  });

  const once = createIdempotency<Result<Uint8Array<ArrayBuffer>>>();
  const carryOut = async (
    command: ServicesCommand,
    asked: {
      readonly request: Request;
      readonly principal: { readonly name: string };
      audit(c: ServicesCommand): void;
    },
  ): Promise<Answer<never>> => {
    asked.audit(command);
    const key = asked.request.headers.get("idempotency-key");
    if (key !== null && !/^[\x21-\x7e]{1,100}$/.test(key))
      return { failure: failure("server.bad-request", "Idempotency-Key: must be 1 to 100 visible characters") };
    const done = await (key === null
      ? ask(command)
      : once.once(`${asked.principal.name} ${key}`, {
          request: JSON.stringify(command),
          now: clock.now(),
          run: () => ask(command),
          isFinal: (result) => result.ok || !result.failure.retry,
        }));
    if (done === null) {
      const text =
        "this Idempotency-Key was used for another request within the last ten minutes: use a new one for each";
      return { failure: failure("server.idempotency-key", text) };
    }
    return done.ok ? { json: done.value } : { failure: done.failure };
  };
  const headers = z.object({
    "idempotency-key": z.string().optional().openapi({
      description: "The same key with the same request within ten minutes gives the first answer again.",
    }),
  });
  const problems: readonly ProblemStatus[] = [...PROBLEMS, 409, 413, 415, 422, 429, 507];

  addEndpoint(app, {
    id: "injectAnomaly",
    method: "post",
    path: "/v1/services/anomalies",
    tag: "commands",
    summary: "Let something go wrong in the simulated application; it ends by itself.",
    headers,
    body: anomalyWishSchema,
    answer: anomalyDoneSchema,
    problems,
    handle: (asked) => carryOut({ kind: "inject-anomaly", anomaly: asked.body }, asked),
  });

  addEndpoint(app, {
    id: "setActing",
    method: "put",
    path: "/v1/services/acting",
    tag: "commands",
    summary: "Whether anybody may change limits and replicas of the simulated application: observe or act.",
    headers,
    body: z.strictObject({ mode: actingModeSchema }).openapi("ActingChange"),
    answer: actingDoneSchema,
    problems,
    handle: (asked) => carryOut({ kind: "set-acting", mode: asked.body.mode }, asked),
  });

  addEndpoint(app, {
    id: "setRequestSlo",
    method: "put",
    path: "/v1/services/requests",
    tag: "commands",
    summary: "Give a request type an SLO, by the operation of its root span, or take it back.",
    headers,
    body: requestSloSchema,
    answer: requestSloSchema,
    problems,
    handle: (asked) => carryOut({ kind: "set-request-slo", ...asked.body }, asked),
  });

  addEndpoint(app, {
    id: "stopAnomaly",
    method: "post",
    path: "/v1/services/anomalies/{id}/stop",
    tag: "commands",
    summary: "Call an anomaly off before its time.",
    params: z.strictObject({ id: nameParameter("an anomaly") }),
    headers,
    answer: anomalyDoneSchema,
    problems,
    handle: (asked) => carryOut({ kind: "stop-anomaly", id: asked.params.id }, asked),
  });
}

function time(description: string) {
  return wholeParameter({ least: 0, most: 8.64e15 }).optional().openapi({ description });
}

function limitParameter(most: number, usual: number) {
  return wholeParameter({ least: 1, most })
    .optional()
    .openapi({ description: `At most so many; ${usual} if not said.` });
}

/** Without the parameters that were not given, as exact optional properties want it. */
function given<T extends object>(query: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never;
}
