/**
 * What a person can change.
 * Owns: pause, resume, promote, roll back, mode, SLO, faults; If-Match against two people changing the same thing, and
 * Idempotency-Key against one person's request arriving twice. Not here: who may (access.ts), how often (limits.ts), what
 * a command does (the plane).
 */
import { z } from "@hono/zod-openapi";
import { type Failure, failure, type Result } from "../../base/index.ts";
import type { Command, CommandDone, ControlPlane } from "../../contract/index.ts";
import { commandDoneSchema, faultSchema, modeSchema, sloSchema } from "../../contract/schemas/index.ts";
import { type Answer, type Asked, addEndpoint, type HonoApp, nameParameter, notFound } from "../endpoint.ts";
import { createIdempotency, type Limits, type ServerClock, within } from "../limits.ts";
import type { ProblemStatus } from "../problem.ts";
import type { ReadModel } from "../read-model/read-model.ts";

export interface CommandRoutes {
  readonly plane: ControlPlane;
  readonly model: ReadModel;
  readonly limits: Limits;
  readonly clock: ServerClock;
  /** Refuse what does not say which revision it saw. */
  readonly requireIfMatch: boolean;
}

const PROBLEMS: readonly ProblemStatus[] = [404, 409, 412, 413, 415, 422, 428, 429, 503, 504, 507];

const headers = z.object({
  "if-match": z.string().optional().openapi({
    description: 'The ETag that was read, `"12"`: refused with 412 when the thing has changed since. `*` for any.',
  }),
  "idempotency-key": z.string().optional().openapi({
    description: "The same key with the same request within ten minutes gives the first answer again.",
  }),
});

const agentId = z.strictObject({ id: nameParameter("an agent") });
const workloadId = z.strictObject({ id: nameParameter("a workload") });

const VERBS = [
  {
    kind: "pause",
    id: "pauseAgent",
    summary: "Stop learning and acting; the fallback acts (in mode recommend: nobody).",
  },
  { kind: "resume", id: "resumeAgent", summary: "Take the pause back." },
  { kind: "promote", id: "promoteAgent", summary: "Go one stage up, on a person's word instead of a gate's." },
  {
    kind: "roll-back",
    id: "rollBackAgent",
    summary: "Go back from ONLINE or SERVING to OFFLINE, where the fallback acts (in mode recommend: nobody).",
  },
] as const;

export function addCommandRoutes(app: HonoApp, setup: CommandRoutes): void {
  const { model } = setup;
  const carryOut = createCarryOut(setup);

  for (const { kind, id, summary } of VERBS) {
    addEndpoint(app, {
      id,
      method: "post",
      path: `/v1/agents/{id}/${kind}`,
      tag: "commands",
      summary,
      params: agentId,
      headers,
      answer: commandDoneSchema,
      hasRevision: true,
      problems: PROBLEMS,
      handle: (asked) => carryOut({ kind, agent: asked.params.id }, { asked, exists: model.agent(asked.params.id) }),
    });
  }

  addEndpoint(app, {
    id: "setMode",
    method: "put",
    path: "/v1/agents/{id}/mode",
    tag: "commands",
    summary: "How far the agent may go: recommend (nobody acts), canary or act.",
    params: agentId,
    headers,
    body: z.strictObject({ mode: modeSchema }).openapi("ModeChange"),
    answer: commandDoneSchema,
    hasRevision: true,
    problems: PROBLEMS,
    handle: (asked) =>
      carryOut(
        { kind: "set-mode", agent: asked.params.id, mode: asked.body.mode },
        { asked, exists: model.agent(asked.params.id) },
      ),
  });

  addEndpoint(app, {
    id: "setSlo",
    method: "put",
    path: "/v1/workloads/{id}/slo",
    tag: "commands",
    summary: "What the workload has to keep.",
    params: workloadId,
    headers,
    body: sloSchema,
    answer: commandDoneSchema,
    hasRevision: true,
    problems: PROBLEMS,
    handle: (asked) =>
      carryOut(
        { kind: "set-slo", workload: asked.params.id, slo: asked.body },
        { asked, exists: model.workload(asked.params.id) },
      ),
  });

  addEndpoint(app, {
    id: "injectFault",
    method: "post",
    path: "/v1/workloads/{id}/faults",
    tag: "commands",
    summary: "Let something go wrong, to see what the agent does.",
    params: workloadId,
    headers,
    body: z.strictObject({ fault: faultSchema }).openapi("FaultInjection"),
    answer: commandDoneSchema,
    hasRevision: true,
    problems: PROBLEMS,
    handle: (asked) =>
      carryOut(
        { kind: "inject", workload: asked.params.id, fault: asked.body.fault },
        { asked, exists: model.workload(asked.params.id) },
      ),
  });
}

type AnyAsked = Pick<Asked<z.ZodType, z.ZodType, z.ZodType>, "request" | "principal" | "audit">;

function createCarryOut({ plane, limits, clock, requireIfMatch }: CommandRoutes) {
  const idempotency = createIdempotency<Result<CommandDone>>();

  return async (
    command: Command,
    { asked, exists }: { readonly asked: AnyAsked; readonly exists: object | undefined },
  ): Promise<Answer<CommandDone>> => {
    asked.audit(command);
    if (exists === undefined)
      return notFound("agent" in command ? `agent '${command.agent}'` : `workload '${command.workload}'`);
    const seen = revisionSeen(asked.request.headers.get("if-match"), { requireIfMatch });
    if ("failure" in seen) return seen;
    const { revision } = seen;
    const run = (): Promise<Result<CommandDone>> =>
      within(plane.command(command, { revision }), { ms: limits.waitMs, clock, what: command.kind });

    const key = asked.request.headers.get("idempotency-key");
    if (key !== null && !/^[\x21-\x7e]{1,100}$/.test(key))
      return { failure: failure("server.bad-request", "Idempotency-Key: must be 1 to 100 visible characters") };
    const answer =
      key === null
        ? run()
        : idempotency.once(`${asked.principal.name} ${key}`, {
            request: JSON.stringify([command, revision]),
            now: clock.now(),
            run,
            isFinal: (answer) => answer.ok || !answer.failure.retry,
          });
    if (answer === null) {
      return {
        failure: failure(
          "server.idempotency-key",
          "this Idempotency-Key was used for another request within the last ten minutes: use a new one for each",
        ),
      };
    }
    const done = await answer;
    if (!done.ok) return { failure: done.failure };
    return { document: { revision: done.value.revision }, revision: done.value.revision };
  };
}

function revisionSeen(
  header: string | null,
  { requireIfMatch }: { readonly requireIfMatch: boolean },
): { readonly revision: number | null } | { readonly failure: Failure } {
  if (header === null) {
    if (!requireIfMatch) return { revision: null };
    const text = "say which revision you saw: send its ETag in If-Match, so that nobody's change is lost";
    return { failure: failure("server.if-match-missing", text) };
  }
  if (header.trim() === "*") return { revision: null };
  const match = /^"(\d{1,15})"$/.exec(header.trim());
  if (match !== null) return { revision: Number(match[1]) };
  return {
    failure: failure("server.if-match", `If-Match must be one ETag as the server sent it, like "12", or *`),
  };
}
