/**
 * One route of the API, written once: what it takes, what it answers, what it does.
 * Owns: turning that into a checked route and a part of the OpenAPI document; handlers see parsed values and give documents
 * or failures, and know nothing of HTTP. Not here: the routes (routes/), who may ask (access.ts).
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Failure, failure } from "../base/index.ts";
import { problemSchema } from "../contract/schemas/index.ts";
import type { Principal } from "./access.ts";
import type { AuditedCommand } from "./audit.ts";
import { type ProblemStatus, problemResponse } from "./problem.ts";

export interface AppVariables {
  principal: Principal;
  command: AuditedCommand | null;
}
/** Whoever brought the request, where anybody wants to know. */
export interface Bringer {
  /** It was let in as somebody, by a token where there are any. */
  admitted?(): void;
}
export type AppEnv = { Variables: AppVariables; Bindings: Bringer };
export type HonoApp = OpenAPIHono<AppEnv>;

const NOTHING = z.strictObject({});
type Nothing = typeof NOTHING;

export type Answer<A> =
  | { readonly document: A; readonly revision?: number }
  /** A document that is JSON already, encoded. */
  | { readonly json: Uint8Array<ArrayBuffer> | string; readonly revision?: number }
  | { readonly failure: Failure }
  | { readonly response: Response };

export interface Asked<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  readonly request: Request;
  readonly principal: Principal;
  /** Tells the audit log what the request turned out to ask for. */
  audit(command: AuditedCommand): void;
}

export interface Endpoint<
  A extends z.ZodType,
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodType = Nothing,
> {
  readonly id: string;
  readonly method: "get" | "post" | "put";
  readonly path: string;
  readonly tag: "control plane" | "services" | "commands" | "studies" | "server";
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: z.ZodObject;
  readonly body?: B;
  readonly answer: A;
  /** Of the answer; JSON when not given. */
  readonly mediaType?: string;
  /** The answer has an ETag with the revision. */
  readonly hasRevision?: boolean;
  readonly problems?: readonly ProblemStatus[];
  readonly isOpen?: boolean;
  handle(asked: Asked<P, Q, B>): Answer<z.input<A>> | Promise<Answer<z.input<A>>>;
}

/** What every route can answer besides its own problems. */
const USUAL: readonly ProblemStatus[] = [400, 401, 403];

export function addEndpoint<
  A extends z.ZodType,
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodType = Nothing,
>(app: HonoApp, endpoint: Endpoint<A, P, Q, B>): void {
  const handler = async (c: Context<AppEnv>): Promise<Response> => {
    const answer = await endpoint.handle({
      params: validated(c, "param") as z.output<P>,
      query: validated(c, "query") as z.output<Q>,
      body: (endpoint.body === undefined ? {} : validated(c, "json")) as z.output<B>,
      request: c.req.raw,
      principal: c.get("principal"),
      audit: (command) => c.set("command", command),
    });
    if ("failure" in answer) return problemResponse(answer.failure);
    if ("response" in answer) return answer.response;
    const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" };
    if (answer.revision !== undefined) headers.etag = `"${answer.revision}"`;
    return new Response("json" in answer ? answer.json : JSON.stringify(answer.document), { headers });
  };
  // The library would infer the handler's type from the route; here `Endpoint` has said it already, more simply.
  app.openapi(routeOf(endpoint), handler as never);
}

type Described = Omit<Endpoint<z.ZodType, z.ZodObject, z.ZodObject, z.ZodType>, "handle">;

const routeOf = (endpoint: Described) =>
  createRoute({
    operationId: endpoint.id,
    method: endpoint.method,
    path: endpoint.path,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    // No entry means that no token is needed, even where the server has tokens.
    security: endpoint.isOpen === true ? [] : [{ token: [] }],
    request: {
      params: endpoint.params ?? NOTHING,
      query: endpoint.query ?? NOTHING,
      ...(endpoint.headers === undefined ? {} : { headers: endpoint.headers }),
      ...(endpoint.body === undefined
        ? {}
        : { body: { required: true, content: { "application/json": { schema: endpoint.body } } } }),
    },
    responses: {
      200: {
        description: endpoint.summary,
        content: { [endpoint.mediaType ?? "application/json"]: { schema: endpoint.answer } },
        ...(endpoint.hasRevision === true
          ? {
              headers: {
                ETag: {
                  description: "The revision, for If-Match. It names what a person can set, not the measurements.",
                  schema: { type: "string" as const },
                },
              },
            }
          : {}),
      },
      ...Object.fromEntries(
        [...USUAL, ...(endpoint.problems ?? [])].map((status) => [
          status,
          {
            description: DESCRIPTIONS[status],
            content: { "application/problem+json": { schema: problemSchema } },
          },
        ]),
      ),
    },
  });

const DESCRIPTIONS: { readonly [status in ProblemStatus]: string } = {
  400: "A parameter, header or body is not as described.",
  401: "The server has tokens, and none that is valid was sent.",
  403: "The token's role, the Host or the Origin does not allow it.",
  404: "There is no such thing.",
  405: "The path has no such method.",
  409: "The control plane refuses it as things stand.",
  412: "Someone changed it since it was read; read it again.",
  413: "The body is too large.",
  415: "The body is not sent as JSON.",
  422: "The Idempotency-Key was used for another request.",
  428: "The server was set to ask for If-Match.",
  429: "Too many writes; Retry-After says when.",
  500: "A defect of the server.",
  503: "Not available now; it may be later.",
  504: "The control plane did not answer in time.",
  507: "It is in force, but could not be saved: a restart may bring back what was before.",
};

function validated(c: Context<AppEnv>, part: "param" | "query" | "json"): unknown {
  return (c.req.valid as (part: string) => unknown)(part);
}

export const notFound = (what: string): { readonly failure: Failure } => ({
  failure: failure("server.not-found", `${what} does not exist: look at the list it belongs to`),
});

/** Names in paths and queries; what is refused here could not exist anyway. */
export const nameParameter = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/, `is no name of ${what}`)
    .openapi({ example: "checkout" });

/** A whole number in a query. */
export const wholeParameter = ({ least, most }: { readonly least: number; readonly most: number }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`)
    .openapi({ type: "integer", minimum: least, maximum: most });
