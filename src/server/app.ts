/**
 * The API as a function from Request to Response, over any control plane. START READING HERE.
 * Owns: putting the parts together and the order in which a request passes them: security headers, who asks, how often, how
 * large, the route, the audit log. Not here: sockets (node-server.ts), so a test needs none.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { CodedError, type Failure, failure } from "../base/index.ts";
import type {
  ControlPlane,
  OverviewDocument,
  PlaneUpdate,
  Problem,
  ServicesPlane,
  StreamMessages,
} from "../contract/index.ts";
import { type Access, createAuthenticator, isSomebody, type Role } from "./access.ts";
import type { AuditSink } from "./audit.ts";
import { withinSize } from "./body-size.ts";
import type { AppEnv, Bringer, HonoApp } from "./endpoint.ts";
import { createBuckets, defaultLimits, type Limits, type ServerClock, wallClock } from "./limits.ts";
import { openApiDocument } from "./open-api.ts";
import { isInForce, problemResponse } from "./problem.ts";
import { createReadModel, type ReadModel, type ReadModelLimits } from "./read-model/read-model.ts";
import { addCommandRoutes } from "./routes/commands.ts";
import { addDashboard, type StaticFiles } from "./routes/dashboard.ts";
import { addEmbeddingRoute, type PoolShelf } from "./routes/embeddings.ts";
import { addFleetRoute } from "./routes/fleet.ts";
import { addOwnRoutes } from "./routes/own.ts";
import { addReadingRoutes } from "./routes/reading.ts";
import { addServiceRoutes } from "./routes/services.ts";
import { addStreamRoute } from "./routes/stream.ts";
import { addStudyRoutes, type StudyShelf } from "./routes/studies.ts";
import { createStreamHub } from "./stream-hub.ts";

export interface AppOptions {
  readonly version: string;
  readonly access: Access;
  readonly audit: AuditSink;
  /** A defect of the server or the plane: the asker got a 500 without its text. */
  readonly onDefect: (thrown: unknown) => void;
  /** Why what is beside the plane, such as the audit log, cannot be relied on right now. */
  readonly troubles?: () => readonly string[];
  /** For the server's own figures; `route` is the pattern, so that it has few values. */
  readonly onAnswer?: (answer: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly ms: number;
  }) => void;
  readonly metrics?: () => string | Promise<string>;
  readonly studies?: StudyShelf;
  /** What the shared model was trained on; without it there is none. */
  readonly pool?: PoolShelf;
  /** What spans say about services; without it nothing is known of them. */
  readonly services?: ServicesPlane;
  readonly dashboard?: StaticFiles;
  readonly requireIfMatch?: boolean;
  readonly limits?: Partial<Limits>;
  readonly modelLimits?: ReadModelLimits;
  readonly clock?: ServerClock;
}

export interface App {
  fetch(request: Request, bringer?: Bringer): Promise<Response>;
  readonly model: ReadModel;
  /** The API's description, as /openapi.json gives it. */
  openApi(): object;
  /** Ends the streams and lets go of the plane. */
  close(): void;
}

const EVENTS_IN_SNAPSHOT = 50;

const NO_STUDIES: StudyShelf = {
  list: async () => [],
  read: async () => undefined,
  figure: async () => undefined,
};

const NO_POOL: PoolShelf = { read: async () => ({ ok: true, value: null }) };

export function createApp({ plane, options }: { readonly plane: ControlPlane; readonly options: AppOptions }): App {
  const limits = { ...defaultLimits, ...options.limits };
  const clock = options.clock ?? wallClock;
  const model = createReadModel(options.modelLimits);

  const overview = (): OverviewDocument => ({
    worlds: plane.worlds.map((world) => ({ ...world, at: model.timeOf(world.tasks) ?? world.startedAt })),
    hasFleet: model.fleet() !== undefined,
    version: options.version,
    workloads: model.workloads(),
    agents: model.agentSummaries(),
  });
  const snapshot = (): StreamMessages["snapshot"] => ({
    overview: overview(),
    agents: model.agents(),
    events: model.events({ before: null, limit: EVENTS_IN_SNAPSHOT }).items,
  });
  const hub = createStreamHub({ ...limits, run: clock.now().toString(36), clock, snapshot });
  // What was told before the plane was started again is shown like the rest, and not streamed.
  const past = (updates: readonly PlaneUpdate[]): void => void model.apply(updates);
  const unsubscribe = plane.subscribe((updates) => hub.publish(model.apply(updates)), { past });

  const app: HonoApp = new OpenAPIHono<AppEnv>({
    defaultHook: (result) => (result.success ? undefined : problemResponse(badRequest(result))),
  });
  const authenticator = createAuthenticator(options.access);

  app.use(async (c, next) => {
    // Not the clock's: most answers take less than its millisecond.
    const began = performance.now();
    await next();
    const route = c.req.routePath === "*" || c.req.routePath === "/*" ? "other" : c.req.routePath;
    options.onAnswer?.({ method: c.req.method, route, status: c.res.status, ms: performance.now() - began });
  });
  app.use(writes({ authenticator, limits, clock, audit: options.audit }));
  app.use(async (c, next) => {
    const request = await withinSize(c.req.raw, limits.bodyBytes);
    if (request === null)
      return problemResponse(failure("server.body-too-large", `the body is larger than ${limits.bodyBytes} bytes`));
    c.req.raw = request;
    return next();
  });

  addReadingRoutes(app, {
    plane,
    model,
    overview,
    limits,
    clock,
    serverFigures: () => ({
      streams: hub.streams,
      samplesDropped: hub.samplesDropped,
      updatesRefused: model.refused,
    }),
  });
  // Without tokens all have one name.
  const streamsPerName = options.access.kind === "tokens" ? limits.streamsPerName : limits.streams;
  addStreamRoute(app, { hub, limits: { ...limits, streamsPerName } });
  addStudyRoutes(app, options.studies ?? NO_STUDIES);
  addEmbeddingRoute(app, { model, pool: options.pool ?? NO_POOL });
  addFleetRoute(app, model);
  addServiceRoutes(app, { services: options.services, limits, clock });
  addCommandRoutes(app, { plane, model, limits, clock, requireIfMatch: options.requireIfMatch ?? false });
  const readiness = () => {
    const { reasons, notes } = plane.readiness();
    return { reasons: [...reasons, ...(options.troubles?.() ?? [])], notes };
  };
  addOwnRoutes(app, { readiness, metrics: options.metrics ?? (() => "") });
  // Made when first asked for: it takes longer than all the rest of the start.
  const openApi = once(() => openApiDocument(app, { version: options.version }));
  const openApiText = once(() => JSON.stringify(openApi()));
  app.get("/openapi.json", (c) => c.body(openApiText(), 200, { "content-type": "application/json" }));
  if (options.dashboard !== undefined) addDashboard(app, options.dashboard);

  const methodsOf = once(() => methodTable(openApi().paths ?? {}));
  app.notFound((c) => {
    const allowed = methodsOf()(c.req.path);
    if (allowed.length === 0 || allowed.includes(c.req.method))
      return problemResponse(failure("server.not-found", "there is nothing here: /openapi.json lists what there is"));
    const allow = allowed.join(", ");
    return problemResponse(failure("server.method", `this path takes ${allow} only`), { allow });
  });
  app.onError((thrown) => {
    if (thrown instanceof HTTPException) return problemResponse(fromFramework(thrown));
    if (thrown instanceof CodedError) return problemResponse(thrown.failure);
    options.onDefect(thrown);
    const text =
      "the server met a defect of its own and wrote it to its log; the request was not carried out, or not fully";
    return problemResponse(failure("server.defect", text));
  });

  return {
    fetch: async (request, bringer) => app.fetch(request, bringer),
    model,
    openApi,
    close() {
      unsubscribe();
      hub.close();
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const isWrite = (method: string): boolean => method !== "GET" && method !== "HEAD";

/** Tokens are asked for where there is something to see; the page itself is the same for everyone. */
function neededRole(method: string, path: string): Role | "nobody" {
  if (isWrite(method)) return "operator";
  const isData = path === "/v1" || path.startsWith("/v1/") || path === "/metrics" || path === "/openapi.json";
  return isData ? "viewer" : "nobody";
}

/** Lets in or refuses; every attempt to change something is written down, and counted against its sender's bucket. */
function writes({
  authenticator,
  limits,
  clock,
  audit,
}: {
  readonly authenticator: ReturnType<typeof createAuthenticator>;
  readonly limits: Limits;
  readonly clock: ServerClock;
  readonly audit: AuditSink;
}): MiddlewareHandler<AppEnv> {
  const buckets = createBuckets({ perSecond: limits.writesPerSecond, burst: limits.writeBurst });
  const overdrawn = new Set<string>();
  return async (c, next) => {
    const { principal: who, refused } = authenticator.admit(c.req.raw, neededRole(c.req.method, c.req.path));
    c.set("principal", who);
    if (isSomebody(who) && refused === null) c.env?.admitted?.();
    c.set("command", null);
    if (!isWrite(c.req.method)) {
      if (refused !== null) return refusal(refused);
      await next();
      return;
    }
    const wait = buckets.take(who.name, clock.now());
    // A flood is written down once, or it would flood the log.
    const isRepeated = wait !== null && overdrawn.has(who.name);
    if (wait === null) overdrawn.delete(who.name);
    else overdrawn.add(who.name);
    if (wait !== null) {
      const text = `more than ${limits.writesPerSecond} changes per second: wait ${wait} s`;
      c.res = problemResponse(failure("server.too-many-writes", text, { retry: true }), { "retry-after": `${wait}` });
    } else if (refused !== null) c.res = refusal(refused);
    else await next();
    if (isRepeated) return;
    const { status } = c.res;
    audit({
      at: clock.now(),
      who: who.name,
      method: c.req.method.slice(0, 20),
      path: c.req.path.slice(0, 200),
      command: c.get("command"),
      outcome: status < 300 ? "done" : isInForce(status) ? "unsaved" : "refused",
      status,
      code: status < 300 ? null : await codeOf(c.res),
    });
  };
}

const refusal = (refused: Failure): Response =>
  problemResponse(refused, refused.code === "server.token-missing" ? { "www-authenticate": "Bearer" } : {});

async function codeOf(response: Response): Promise<string | null> {
  if (response.headers.get("content-type") !== "application/problem+json") return null;
  return ((await response.clone().json()) as Problem).code;
}

interface Refused {
  readonly target: string;
  readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
}

const WHERE: Readonly<Record<string, string>> = { param: "path", query: "query", header: "header", json: "body" };

function badRequest({ target, error }: Refused): Failure {
  const problems = error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${[WHERE[target] ?? target, ...path.map(String)].join(".")}: ${message}`);
  return failure("server.bad-request", problems.join("; ").slice(0, 500));
}

/** The framework's own refusals: a body that is not valid JSON, or is sent as something else. */
function fromFramework({ status }: HTTPException): Failure {
  if (status === 415) return failure("server.not-json", "send the body as JSON, with 'Content-Type: application/json'");
  return failure("server.bad-request", "the body is not valid JSON: check quotes, commas and brackets");
}

function methodTable(paths: Readonly<Record<string, object>>): (path: string) => readonly string[] {
  const table = Object.entries(paths).map(([path, item]) => {
    const methods = Object.keys(item).map((method) => method.toUpperCase());
    return {
      pattern: new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
      methods: methods.includes("GET") ? [...methods, "HEAD"] : methods,
    };
  });
  return (path) => table.find(({ pattern }) => pattern.test(path))?.methods ?? [];
}
