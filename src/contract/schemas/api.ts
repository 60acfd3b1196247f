/**
 * The documents of api.ts, study.ts and embeddings.ts as schemas.
 * Owns: one schema per document; plane.test.ts proves each equal to its plain type.
 */
import { z } from "zod";
import { type StageName, stages } from "../index.ts";
import { document, list, measured, number, orNull, part, when, whole } from "./parts.ts";
import { neighbours } from "./plane.ts";

const side = document("MetricsSide", {
  steps: number,
  attainment: measured,
  utilisation: z.record(z.string(), measured).readonly(),
  cost: number,
});

const taskMetrics = document("TaskMetrics", {
  task: z.string(),
  at: when.nullable(),
  workloads: whole,
  inTrouble: whole,
  agentsByStage: part(Object.fromEntries(stages.map((name) => [name, whole])) as Record<StageName, typeof whole>),
  agentsPaused: whole,
  learned: side,
  twin: side,
});

export const metricsSchema = document("Metrics", {
  tasks: list(taskMetrics),
  server: part({ streams: whole, samplesDropped: whole, updatesRefused: whole }),
});

export const studySummarySchema = document("StudySummary", {
  id: z.string(),
  title: z.string(),
  quick: z.boolean(),
  version: z.string(),
  seeds: whole,
  promises: whole,
  promisesHeld: whole,
  reproductions: whole,
  reproduced: whole,
  sameDirection: whole,
  figures: list(z.string()),
});

const measuredRow = z.object({
  id: z.string(),
  what: z.string(),
  paper: z.object({ low: number, high: number, unit: z.string(), where: z.string() }).readonly().nullable(),
  ours: z.object({ mean: number, lo: number, hi: number, n: number, unit: z.string() }).readonly(),
  claim: z.string(),
});
const target = z
  .object({ direction: z.enum(["at-least", "at-most"]), bound: number, none: number.nullable() })
  .readonly();
const promiseRow = measuredRow.extend({ kind: z.literal("promise"), target, holds: z.boolean() }).readonly();
const reproductionRow = measuredRow
  .extend({
    kind: z.literal("reproduction"),
    target,
    outcome: z.enum(["reproduced", "same-direction", "not"]),
    holds: z.boolean(),
  })
  .readonly();
const shownRow = measuredRow.extend({ kind: z.literal("shown"), holds: z.null() }).readonly();

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
    rows: list(z.union([promiseRow, reproductionRow, shownRow])),
  })
  .readonly()
  .meta({ id: "StudyResult" });

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
  code: z.string().meta({ description: "Stable; listed in docs/guide/failures.md." }),
});
