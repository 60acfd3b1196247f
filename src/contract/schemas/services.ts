/**
 * The documents of services.ts as schemas.
 * Owns: one schema per document; services.test.ts proves each equal to its plain type.
 */
import { z } from "zod";
import { actingModes, anomalyKinds, type ServiceResource, serviceResources } from "../index.ts";
import { document, list, measured, number, orNull, part, whole } from "./parts.ts";
import { requestSloMs } from "./slo.ts";

const share = number.meta({ description: "From 0 to 1." });
const when = number.meta({ description: "Milliseconds since 1970, of the wall's clock." });
const counted = z.record(z.string(), whole).readonly();

export const anomalyKindSchema = z.enum(anomalyKinds).meta({ id: "AnomalyKind" });
const resource = z.enum(serviceResources).meta({ id: "ServiceResource" });
const amounts = part(
  Object.fromEntries(serviceResources.map((name) => [name, number])) as Record<ServiceResource, typeof number>,
).meta({ id: "ResourceAmounts" });

const anomaly = document("Anomaly", {
  id: z.string(),
  kind: anomalyKindSchema,
  target: z.string(),
  intensity: share,
  from: when,
  until: when,
});

export const actingModeSchema = z.enum(actingModes).meta({ id: "ActingMode" });

const acting = document("Acting", {
  mode: actingModeSchema,
  since: when.nullable(),
  waitsFor: z.string().nullable().meta({ description: "Why the services have no agents yet; null where they have." }),
  remedies: list(
    document("Remedy", {
      id: z.string(),
      service: z.string(),
      instance: z.string().nullable(),
      requests: list(z.string()),
      by: z.enum(["learner", "fallback"]),
      isDone: z.boolean(),
      from: when,
      until: when,
      changes: list(part({ what: z.enum([...serviceResources, "replicas"]), from: number, to: number })),
      why: z.string(),
      endedAt: when.nullable(),
      saving: part({ expectedMs: number, measuredMs: number }).nullable(),
    }),
  ),
  fitted: whole,
});

export const servicesSchema = document("Services", {
  at: when,
  listeners: part({ http: z.string().nullable(), grpc: z.string().nullable(), problems: list(z.string()) }),
  counts: part({
    requests: whole,
    spans: whole,
    refused: counted,
    dropped: counted,
    waiting: whole,
    storedTraces: whole,
    storedSpans: whole,
  }),
  simulated: part({
    application: z.string(),
    requests: list(
      document("ServiceRequests", {
        request: z.string(),
        sloMs: number,
        p50Ms: measured,
        p99Ms: measured,
        offered: number,
        completed: number,
        failed: number,
        twinP99Ms: measured,
      }),
    ),
    targets: part({ instances: list(z.string()), nodes: list(z.string()), requests: list(z.string()) }),
    anomalies: list(anomaly),
    acting,
  }).nullable(),
});

export const graphSchema = document("ServiceGraph", {
  from: when,
  to: when,
  of: z.enum(["services", "instances"]),
  vertices: list(
    part({
      name: z.string(),
      calls: whole,
      errors: whole,
      criticalMs: number,
      criticalShare: share,
      blame: share,
    }),
  ),
  edges: list(
    part({
      caller: z.string(),
      callee: z.string(),
      calls: whole,
      errors: whole,
      meanMs: number,
      p99Ms: number,
      criticalCalls: whole,
    }),
  ),
});

export const suspectsSchema = document("Suspects", {
  at: when,
  isTrained: z.boolean(),
  items: list(
    document("Suspect", {
      instance: z.string(),
      service: z.string(),
      request: z.string(),
      isBackground: z.boolean(),
      resource,
      score: share,
      isCulprit: z.boolean(),
      relativeImportance: number,
      congestionIntensity: number,
      expectedSavingMs: number,
      reason: z.string(),
    }),
  ),
});

export const instanceSchema = document("Instance", {
  instance: z.string(),
  service: z.string(),
  node: z.string(),
  isReady: z.boolean(),
  limits: amounts,
  lower: amounts,
  upper: amounts,
  use: orNull(amounts),
});

export const pathsSchema = document("Paths", {
  request: z.string().nullable(),
  requests: list(z.string()),
  windowMs: number,
  windows: list(
    part({
      from: when,
      requests: whole,
      meanMs: measured,
      paths: list(part({ signature: z.string(), count: whole, meanMs: number })),
      others: whole,
    }),
  ),
  paths: list(
    part({
      signature: z.string(),
      count: whole,
      meanMs: number,
      steps: list(part({ service: z.string(), operation: z.string(), exclusiveMs: number })),
    }),
  ),
});

const summary = {
  id: z.string(),
  service: z.string(),
  operation: z.string(),
  at: when,
  durationMs: number,
  spans: whole,
  errors: whole,
  sealedBy: z.string(),
};

export const traceSummarySchema = document("TraceSummary", summary);

export const traceSchema = document("Trace", {
  ...summary,
  tree: list(
    part({
      id: z.string(),
      parent: whole.nullable(),
      service: z.string(),
      instance: z.string(),
      operation: z.string(),
      kind: z.string(),
      status: z.string(),
      fromMs: number,
      toMs: number,
      criticalMs: measured,
    }),
  ),
  path: list(part({ span: whole, fromMs: number, toMs: number })),
});

/** The bounds are what a person can mean; what is too much for the world is for its guard to say. */
export const anomalyWishSchema = document("AnomalyWish", {
  kind: anomalyKindSchema,
  target: part({ on: z.enum(["instance", "node", "requests"]), name: z.string().min(1).max(200) }),
  intensity: number.min(0).max(1),
  seconds: number.positive().max(86_400),
});

export const actingDoneSchema = document("ActingDone", { mode: actingModeSchema, since: when });

export const requestName = z.string().min(1).max(300).meta({ description: "The operation of the root span." });

export const requestSchema = document("RequestType", {
  request: requestName,
  sloMs: number,
  isOwn: z.boolean(),
  p50Ms: measured,
  p99Ms: measured,
  perSecond: number,
  isBroken: z.boolean(),
});

export const requestSloSchema = document("RequestSlo", {
  request: requestName,
  sloMs: requestSloMs.nullable().meta({ description: "At the p99; null takes it back." }),
});

export const anomalyDoneSchema = document("AnomalyDone", { anomaly, changed: list(z.string()) });
