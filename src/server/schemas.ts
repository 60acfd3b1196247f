/**
 * The documents of plane-contract.ts as schemas: what the OpenAPI document is made of and what requests are checked by.
 * Owns: one schema per document; schemas.test.ts proves each equal to its plain type. Not here: routes (routes/).
 */
import { z } from "@hono/zod-openapi";
import {
  faults,
  modes,
  type SeriesColumn,
  type StageName,
  seriesColumns,
  severities,
  stages,
} from "./plane-contract.ts";

// The plain types are read-only throughout, and so are these; a field that is not named is a mistake, hence strict.
export const document = <S extends z.core.$ZodLooseShape>(name: string, shape: S) =>
  z.strictObject(shape).readonly().openapi(name);
export const part = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape).readonly();
export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

// `.nullable()` on a schema with a name comes out of the generator as "this object, and null too", which nothing satisfies.
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

// JSON has no infinity and no NaN, and z.number() refuses both.
const number = z.number();
const measured = number.nullable();
const whole = z.int();
const when = number.openapi({ description: "Milliseconds since 1970, of the managed world." });
const stage = z.enum(stages).openapi("Stage");
const actor = z.enum(["learner", "fallback", "nobody"]);
export const modeSchema = z.enum(modes).openapi("Mode");
export const faultSchema = z.enum(faults).openapi("Fault");
export const severitySchema = z.enum(severities).openapi("Severity");

/** The bounds are what a person can mean by an SLO; a document of the plane keeps to them as well. */
export const sloSchema = z
  .discriminatedUnion("kind", [
    part({
      kind: z.literal("latency"),
      percentile: number.gt(0).lt(100),
      target: number.positive().max(3_600_000).openapi({ description: "Milliseconds." }),
    }),
    part({
      kind: z.literal("throughput"),
      target: number.positive().max(1e9).openapi({ description: "Requests per second." }),
    }),
    part({ kind: z.literal("none") }),
  ])
  .openapi("Slo");

const allocation = document("Allocation", {
  replicas: number,
  cpu: number.openapi({ description: "Millicores of one replica." }),
  memory: number.openapi({ description: "Bytes of one replica." }),
});

export const sampleSchema = document("Sample", {
  at: when,
  load: measured,
  latency: measured,
  preservation: measured,
  ready: number,
  have: allocation,
  use: part({ cpu: measured, memory: measured }),
  reward: measured,
  cost: number,
});

export const accountSchema = document("Account", {
  steps: number,
  violations: number,
  cost: number,
  cpuUsed: number,
  cpuGranted: number,
  memoryUsed: number,
  memoryGranted: number,
});

const trouble = document("Trouble", { since: when, what: z.string() });
const release = document("Release", { version: z.string(), since: when, needs: z.string().nullable() });

const workloadSettings = {
  id: z.string(),
  title: z.string(),
  slo: sloSchema,
  agent: z.string(),
  release: orNull(release),
  trouble: orNull(trouble),
  revision: whole,
};

export const workloadSchema = document("Workload", {
  ...workloadSettings,
  now: orNull(sampleSchema),
  account: accountSchema,
  twin: part({ now: orNull(sampleSchema), account: accountSchema }).nullable(),
});

// Spelled out from the list of names, so that a column can not be forgotten.
const columns = part(
  Object.fromEntries(seriesColumns.map((name) => [name, list(measured)])) as Record<
    SeriesColumn,
    ReturnType<typeof list<typeof measured>>
  >,
);

export const seriesSchema = document("Series", {
  workload: z.string(),
  at: list(when),
  columns,
  twin: columns.nullable(),
});

const judged = document("Judged", {
  gate: z.string(),
  holds: z.boolean(),
  found: measured,
  asked: measured,
  about: z.string(),
});

export const decisionSchema = document("Decision", {
  id: whole,
  at: when,
  workload: z.string(),
  agent: z.string(),
  stage,
  who: actor,
  why: list(z.string()),
  have: orNull(allocation),
  proposed: orNull(allocation),
  executed: orNull(allocation),
  failure: z.string().nullable(),
});

const neighbours = list(
  part({
    name: z.string(),
    similarity: number.openapi({ description: "Cosine from the middle of the pool, −1 to 1." }),
  }),
);

const familiarity = document("Familiarity", {
  state: z.enum(["neutral", "known", "stranger"]),
  why: z.string(),
  model: z.string(),
  embedding: list(number),
  kin: neighbours,
});

export const agentSchema = document("Agent", {
  id: z.string(),
  workload: z.string(),
  stage,
  since: when,
  acting: actor,
  mode: modeSchema,
  isPaused: z.boolean(),
  history: list(
    document("StageChange", { at: when, from: stage, to: stage, because: z.string(), evidence: list(judged) }),
  ),
  episodes: list(part({ episode: number, reward: number, violations: number, stage })),
  thresholds: part({ online: measured, serving: measured, fallback: measured }),
  estimate: part({ at: when, mean: number, lower: number, upper: number }).nullable(),
  gates: list(judged),
  canaryBand: measured,
  guardTripRate: number,
  rollbacks: number,
  updates: number,
  familiarity: orNull(familiarity),
  revision: whole,
});

export const eventSchema = document("Event", {
  id: whole,
  at: when,
  severity: severitySchema,
  kind: z.string(),
  workload: z.string().nullable(),
  agent: z.string().nullable(),
  text: z.string(),
  evidence: z.unknown(),
});

export const trajectorySchema = document("Trajectory", {
  episode: z.string(),
  step: number,
  obs: list(number),
  proposed: list(number),
  executed: list(number),
  reward: measured,
});

export const overviewSchema = document("Overview", {
  at: when,
  world: part({ kind: z.string(), startedAt: when, speed: number }),
  version: z.string(),
  workloads: list(workloadSchema),
  agents: list(
    document("AgentSummary", {
      id: z.string(),
      workload: z.string(),
      stage,
      since: when,
      acting: actor,
      mode: modeSchema,
      isPaused: z.boolean(),
    }),
  ),
});

const side = document("MetricsSide", {
  steps: number,
  attainment: measured,
  cpuUtilisation: measured,
  memoryUtilisation: measured,
  cost: number,
});

export const metricsSchema = document("Metrics", {
  at: when,
  workloads: whole,
  inTrouble: whole,
  agentsByStage: part(Object.fromEntries(stages.map((name) => [name, whole])) as Record<StageName, typeof whole>),
  agentsPaused: whole,
  learned: side,
  twin: side,
  server: part({ streams: whole, samplesDropped: whole, updatesRefused: whole }),
});

export const studySummarySchema = document("StudySummary", {
  id: z.string(),
  title: z.string(),
  quick: z.boolean(),
  version: z.string(),
  seeds: whole,
  claims: whole,
  claimsHeld: whole,
  figures: list(z.string()),
});

/** Not strict: a study's document has further fields, and they are let through, as contract.ts says. */
export const studyResultSchema = z
  .object({
    study: z.string(),
    title: z.string(),
    quick: z.boolean(),
    seeds: list(number),
    wallSeconds: number,
    world: z.string(),
    version: z.string(),
    rows: list(
      z
        .object({
          id: z.string(),
          what: z.string(),
          paper: z.object({ low: number, high: number, unit: z.string(), where: z.string() }).readonly().nullable(),
          ours: z.object({ mean: number, lo: number, hi: number, n: number, unit: z.string() }).readonly(),
          claim: z.string(),
          holds: z.boolean().nullable(),
        })
        .readonly(),
    ),
  })
  .readonly()
  .openapi("StudyResult");

const place = z.tuple([number, number]).readonly();

export const embeddingsSchema = document("Embeddings", {
  model: part({
    name: z.string(),
    applications: whole,
    rounds: whole,
    seed: whole,
    known: number,
    neutral: number,
    curve: list(part({ round: whole, return: number })),
  }).nullable(),
  shares: place,
  members: list(
    document("PoolMember", {
      name: z.string(),
      application: z.string(),
      sensitivity: z.string(),
      shape: z.string(),
      place,
      nearest: neighbours,
    }),
  ),
  workloads: list(
    document("PlacedWorkload", {
      workload: z.string(),
      title: z.string(),
      agent: z.string(),
      state: z.enum(["neutral", "known", "stranger"]),
      why: z.string(),
      place: orNull(place),
      nearest: neighbours,
    }),
  ),
});

export const commandDoneSchema = document("CommandDone", { revision: whole });

export const problemSchema = document("Problem", {
  type: z.string(),
  title: z.string(),
  status: whole,
  detail: z.string(),
  code: z.string().openapi({ description: "Stable; listed in docs/guide/failures.md." }),
});

export const liveUpdateSchema = z
  .discriminatedUnion("kind", [
    part({
      kind: z.literal("samples"),
      at: when,
      samples: list(
        part({
          workload: z.string(),
          sample: sampleSchema,
          twin: orNull(sampleSchema),
          account: accountSchema,
          twinAccount: orNull(accountSchema),
        }),
      ),
    }),
    part({ kind: z.literal("workload"), workload: part(workloadSettings) }),
    part({ kind: z.literal("agent"), agent: agentSchema }),
    part({ kind: z.literal("decision"), decision: decisionSchema }),
    part({ kind: z.literal("event"), event: eventSchema }),
  ])
  .openapi("LiveUpdate");

export const snapshotSchema = document("Snapshot", {
  overview: overviewSchema,
  agents: list(agentSchema),
  events: list(eventSchema),
});
export const updatesSchema = list(liveUpdateSchema).openapi("Updates");
export const laggedSchema = document("Lagged", { samples: whole });

export const pageOf = <T extends z.ZodType>(name: string, item: T) =>
  document(name, {
    items: list(item),
    next: z.string().nullable().openapi({ description: "The cursor of the following portion; null at the end." }),
  });
