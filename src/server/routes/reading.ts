/**
 * What can be read of the control plane.
 * Owns: overview, workloads, series, decisions, agents, trajectories, events, metrics as JSON. Not here: the live stream
 * (stream.ts), studies (studies.ts), commands (commands.ts).
 */
import { z } from "@hono/zod-openapi";
import type { AgentDocument, ControlPlane, MetricsDocument, OverviewDocument } from "../../contract/index.ts";
import {
  agentSchema,
  decisionSchema,
  eventSchema,
  metricsSchema,
  overviewSchema,
  pageOf,
  seriesSchema,
  severitySchema,
  trajectorySchema,
  workloadSchema,
} from "../../contract/schemas/index.ts";
import { addEndpoint, type HonoApp, nameParameter, notFound, wholeParameter } from "../endpoint.ts";
import { type Limits, type ServerClock, within } from "../limits.ts";
import type { ReadModel } from "../read-model/read-model.ts";

export interface ReadingRoutes {
  readonly plane: ControlPlane;
  readonly model: ReadModel;
  readonly overview: () => OverviewDocument;
  readonly serverFigures: () => MetricsDocument["server"];
  readonly limits: Limits;
  readonly clock: ServerClock;
}

const id = (what: string) => z.strictObject({ id: nameParameter(what) });
const limit = wholeParameter({ least: 1, most: 500 })
  .optional()
  .openapi({ description: "At most so many; 100 if not said." });
const idCursor = wholeParameter({ least: 0, most: Number.MAX_SAFE_INTEGER })
  .optional()
  .openapi({ description: "`next` of the portion before." });
const task = nameParameter("a task").optional().openapi({ description: "Of this task only: pods, mitigation." });
const PORTION = 100;
const POINTS = 600;

export function addReadingRoutes(
  app: HonoApp,
  { plane, model, overview, serverFigures, limits, clock }: ReadingRoutes,
) {
  const agentJson = createJsonCache<AgentDocument>();

  addEndpoint(app, {
    id: "getOverview",
    method: "get",
    path: "/v1/overview",
    tag: "control plane",
    summary: "Everything at a glance: the worlds, every workload with its twin, every agent's stage.",
    answer: overviewSchema,
    handle: () => ({ document: overview() }),
  });

  addEndpoint(app, {
    id: "listWorkloads",
    method: "get",
    path: "/v1/workloads",
    tag: "control plane",
    summary: "All workloads, as they are now.",
    query: z.strictObject({ task }),
    answer: pageOf("WorkloadPage", workloadSchema),
    handle: ({ query }) => ({ document: { items: model.workloads(query.task), next: null } }),
  });

  addEndpoint(app, {
    id: "getWorkload",
    method: "get",
    path: "/v1/workloads/{id}",
    tag: "control plane",
    summary: "One workload, as it is now.",
    params: id("a workload"),
    answer: workloadSchema,
    hasRevision: true,
    problems: [404],
    handle({ params }) {
      const document = model.workload(params.id);
      if (document === undefined) return notFound(`workload '${params.id}'`);
      return { document, revision: document.revision };
    },
  });

  addEndpoint(app, {
    id: "getSeries",
    method: "get",
    path: "/v1/workloads/{id}/series",
    tag: "control plane",
    summary: "A workload's measurements over time, beside its twin's.",
    description:
      "Thinned to at most `points`. A point that stands for several steps has the time and the allocation of the last of them, the worst latency and preservation, and the mean of the rest. What is long ago is kept coarser.",
    params: id("a workload"),
    query: z.strictObject({
      from: time("The beginning; the oldest known if not said."),
      to: time("The end; now if not said."),
      points: wholeParameter({ least: 2, most: 5_000 })
        .optional()
        .openapi({ description: `${POINTS} if not said.` }),
    }),
    answer: seriesSchema,
    problems: [404],
    handle({ params, query }) {
      const json = model.tellSeries(params.id, {
        from: query.from ?? null,
        to: query.to ?? null,
        points: query.points ?? POINTS,
      });
      return json === undefined ? notFound(`workload '${params.id}'`) : { json };
    },
  });

  addEndpoint(app, {
    id: "listDecisions",
    method: "get",
    path: "/v1/decisions",
    tag: "control plane",
    summary: "What was decided, newest first, with the reasons.",
    query: z.strictObject({
      workload: nameParameter("a workload").optional(),
      agent: nameParameter("an agent").optional(),
      task,
      cursor: idCursor,
      limit,
    }),
    answer: pageOf("DecisionPage", decisionSchema),
    handle: ({ query }) => ({
      document: model.decisions({
        workload: query.workload,
        agent: query.agent,
        task: query.task,
        before: query.cursor ?? null,
        limit: query.limit ?? PORTION,
      }),
    }),
  });

  addEndpoint(app, {
    id: "listAgents",
    method: "get",
    path: "/v1/agents",
    tag: "control plane",
    summary: "All agents, with stage history and evidence.",
    query: z.strictObject({ task }),
    answer: pageOf("AgentPage", agentSchema),
    // Histories of many agents are megabytes, of which little changes between two requests.
    handle: ({ query }) => ({ json: pageJson(model.agents(query.task).map(agentJson)) }),
  });

  addEndpoint(app, {
    id: "getAgent",
    method: "get",
    path: "/v1/agents/{id}",
    tag: "control plane",
    summary: "One agent, with stage history and evidence.",
    params: id("an agent"),
    answer: agentSchema,
    hasRevision: true,
    problems: [404],
    handle({ params }) {
      const document = model.agent(params.id);
      if (document === undefined) return notFound(`agent '${params.id}'`);
      return { json: agentJson(document), revision: document.revision };
    },
  });

  addEndpoint(app, {
    id: "listTrajectories",
    method: "get",
    path: "/v1/trajectories",
    tag: "control plane",
    summary: "An agent's stored steps, newest first.",
    query: z.strictObject({
      agent: nameParameter("an agent"),
      cursor: z.string().min(1).max(200).optional().openapi({ description: "`next` of the portion before." }),
      limit,
    }),
    answer: pageOf("TrajectoryPage", trajectorySchema),
    problems: [404, 409, 503, 504],
    async handle({ query }) {
      if (model.agent(query.agent) === undefined) return notFound(`agent '${query.agent}'`);
      const asked = { agent: query.agent, limit: query.limit ?? PORTION, before: query.cursor ?? null };
      const found = await within(plane.trajectories(asked), { ms: limits.waitMs, clock, what: "trajectories" });
      return found.ok ? { document: found.value } : { failure: found.failure };
    },
  });

  addEndpoint(app, {
    id: "listEvents",
    method: "get",
    path: "/v1/events",
    tag: "control plane",
    summary: "What happened, newest first.",
    query: z.strictObject({
      severity: severitySchema.optional().openapi({ description: "The least that is shown." }),
      workload: nameParameter("a workload").optional(),
      task,
      cursor: idCursor,
      limit,
    }),
    answer: pageOf("EventPage", eventSchema),
    handle: ({ query }) => ({
      document: model.events({
        severity: query.severity,
        workload: query.workload,
        task: query.task,
        before: query.cursor ?? null,
        limit: query.limit ?? PORTION,
      }),
    }),
  });

  addEndpoint(app, {
    id: "getMetrics",
    method: "get",
    path: "/v1/metrics",
    tag: "control plane",
    summary: "The whole in figures, task by task; /metrics has them for Prometheus.",
    answer: metricsSchema,
    handle: () => ({ document: { tasks: model.metrics(), server: serverFigures() } }),
  });
}

const encoder = new TextEncoder();

/** The bytes of a document that is never changed, only replaced; made once for as long as the document is there. */
function createJsonCache<T extends object>(): (document: T) => Uint8Array<ArrayBuffer> {
  const known = new WeakMap<T, Uint8Array<ArrayBuffer>>();
  return (document) => {
    let bytes = known.get(document);
    if (bytes === undefined) {
      bytes = Buffer.from(JSON.stringify(document));
      known.set(document, bytes);
    }
    return bytes;
  };
}

/** All of a list in one portion. */
function pageJson(items: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const comma = encoder.encode(",");
  const parts = items.flatMap((item, index) => (index === 0 ? [item] : [comma, item]));
  return Buffer.concat([encoder.encode('{"items":['), ...parts, encoder.encode('],"next":null}')]);
}

function time(description: string) {
  return wholeParameter({ least: 0, most: 8.64e15 }).optional().openapi({ description });
}
