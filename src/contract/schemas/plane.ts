/**
 * The documents of plane.ts as schemas: what the OpenAPI document is made of and what requests are checked by.
 * Owns: one schema per document; plane.test.ts proves each equal to its plain type. Not here: routes (server/routes).
 */
import { z } from "zod";
import { actors, faults, modes, severities, stages } from "../index.ts";
import { document, list, maybe, measured, number, orNull, part, when, whole } from "./parts.ts";
import { sloSchema } from "./slo.ts";

const stage = z.enum(stages).meta({ id: "Stage" });
const actor = z.enum(actors);
export const modeSchema = z.enum(modes).meta({ id: "Mode" });
export const faultSchema = z.enum(faults).meta({ id: "Fault" });
export const severitySchema = z.enum(severities).meta({ id: "Severity" });

const byKnob = "By knob, in the unit that the workload's `knobs` have for it.";
const settingSchema = z.record(z.string(), number).readonly().meta({ id: "Setting", description: byKnob });
const useSchema = z.record(z.string(), measured).readonly().meta({ id: "Use", description: byKnob });

const knob = document("Knob", {
  name: z.string().meta({ description: "As settings, series and reasons have it." }),
  title: z.string().meta({ description: "As a person reads it." }),
  unit: z.string(),
});

export const sampleSchema = document("Sample", {
  at: when,
  load: measured,
  latency: measured,
  preservation: measured,
  expected: measured.meta({
    description: "Latency that the model behind the decision before expected for this step; null without a model.",
  }),
  ready: number,
  have: settingSchema,
  use: useSchema,
  reward: measured,
  cost: number,
});

export const accountSchema = document("Account", {
  steps: number,
  violations: number,
  cost: number,
  sums: z
    .record(z.string(), number)
    .readonly()
    .meta({ description: "What the task adds up; `<x>Used` over `<x>Granted` is the utilisation of x." }),
});

export const budgetSchema = document("Budget", {
  attainment: number.meta({ description: "The share of steps that is to keep the SLO." }),
  windowMs: number.meta({ description: "The time over which it is to hold." }),
  steps: number.meta({ description: "Seen in the window." }),
  missed: number.meta({ description: "Those of them that missed the SLO." }),
  left: number.meta({ description: "Share of the budget that is left: 1 is all of it, below 0 it is overspent." }),
  burn: part({ short: number, long: number }).meta({
    description: "At 1, all of it is spent in just the window. Over the last hour, and over the last six.",
  }),
});

const trouble = document("Trouble", { since: when, what: z.string(), why: z.string() });
const release = document("Release", { version: z.string(), since: when, needs: z.string().nullable() });

const fallback = document("Fallback", { name: z.string(), title: z.string() });

export const workloadSettings = {
  id: z.string(),
  task: z.string().meta({ description: "pods, mitigation, or what a module calls its own." }),
  title: z.string(),
  slo: sloSchema,
  judgedBy: z
    .string()
    .nullable()
    .meta({ description: "What its preservation is about where it has no SLO of its own." }),
  objective: z.string().nullable().meta({ description: "What its agent wants, for a person." }),
  twinRules: orNull(fallback).meta({ description: "Who acts in the twin; null without one." }),
  knobs: list(knob),
  agent: z.string(),
  release: orNull(release),
  trouble: orNull(trouble),
  faults: list(faultSchema),
  revision: whole,
};

export const workloadSchema = document("Workload", {
  ...workloadSettings,
  now: orNull(sampleSchema),
  account: accountSchema,
  budget: orNull(budgetSchema),
  twin: part({ now: orNull(sampleSchema), account: accountSchema }).nullable(),
});

const column = list(measured);
// One more for every knob, and `<knob>Use` for every knob whose use is measured.
const columns = z
  .object({ load: column, latency: column, expected: column, preservation: column, reward: column, cost: column })
  .catchall(column)
  .readonly();

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

const reason = document("Reason", {
  by: z.string().meta({
    description:
      "lifecycle, canary, shield, guard, domain-match, a model of the task (capacity), or the name of a fallback.",
  }),
  rule: z.string(),
  knob: maybe(z.string().meta({ description: "What it is about, where it is about one knob." })),
});

const decision = {
  at: when,
  workload: z.string(),
  agent: z.string(),
  stage,
  who: actor,
  why: list(reason),
  have: orNull(settingSchema),
  proposed: orNull(settingSchema),
  executed: orNull(settingSchema),
  fallback: orNull(settingSchema),
  expected: measured.meta({ description: "Latency in milliseconds that a model expects under what was done." }),
  failure: z.string().nullable(),
};

export const decisionSchema = document("Decision", { id: whole, ...decision });
/** As the plane tells it, and as it is kept: whoever lists it gives it its id. */
export const toldDecisionSchema = part(decision);

export const neighbours = list(
  part({
    name: z.string(),
    similarity: number.meta({ description: "Cosine from the middle of the pool, −1 to 1." }),
  }),
);

const familiarity = document("Familiarity", {
  state: z.enum(["neutral", "known", "stranger"]),
  why: z.string(),
  model: z.string(),
  embedding: list(number),
  kin: neighbours,
});

const counts = { decisions: whole, asProposed: whole, less: whole };
const steering = document("Steering", {
  ...counts,
  total: part(counts).meta({ description: "Since it began; the others are of its newest decisions, at most 1,000." }),
});

export const agentSchema = document("Agent", {
  id: z.string(),
  workload: z.string(),
  fallback,
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
  steering,
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

const world = document("World", {
  kind: z.string(),
  tasks: list(z.string()),
  startedAt: when,
  speed: number.meta({ description: "Times the wall's." }),
  at: when.meta({
    description: "The newest time at which something was measured there; each world has its own clock.",
  }),
});

export const overviewSchema = document("Overview", {
  worlds: list(world),
  hasFleet: z.boolean().meta({ description: "Workloads come and go, and share machines: /v1/fleet tells of it." }),
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
