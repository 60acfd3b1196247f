/**
 * What of the plane itself is on disk between two runs, as schemas.
 * Owns: the shapes with their bounds: what no run can have written is refused, whatever a checksum says. Not here: the files
 * with their versions (cli/up/saved-plane-file.ts, cli/up/services/services-file.ts), the agents' own state (control/loop).
 */
import { z } from "zod";
import { actingModes, actors, stages } from "../index.ts";
import { list, number, part, whole } from "./parts.ts";
import { faultSchema, modeSchema } from "./plane.ts";
import { requestName } from "./services.ts";
import { requestSloMs, sloSchema } from "./slo.ts";

/** As far as dates go, both ways. */
const moment = number.min(-8.64e15).max(8.64e15);
const count = whole.min(0);
/** Of any task: large enough for bytes of memory, small enough that sums of a long life stay exact. */
const amount = number.min(-1e15).max(1e15);
const id = z.string().min(1).max(128);

/** By knob; null where it was not known yet. */
const setting = z.record(id, amount).readonly().nullable();
/** What every account has, and what a task adds up besides. */
const account = z
  .object({ steps: count, violations: count, cost: amount })
  .catchall(number)
  .refine(({ steps, violations }) => violations <= steps, "more violations than steps")
  .readonly();

/** Quarters of an hour in seven days. */
const MOST_SPANS = 672;
const spans = z.array(count).max(MOST_SPANS).readonly();
/** What a budget goes on from (plane/budget.ts). */
const budget = part({
  /** The number of the first span, counted from 1970. */
  first: whole.min(-1e10).max(1e10),
  steps: spans,
  missed: spans,
  /** Of the newest step. */
  at: moment,
})
  .refine(({ steps, missed }) => steps.length === missed.length, "as many spans of steps as of misses")
  .refine(({ steps, missed }) => missed.every((some, index) => some <= (steps[index] ?? 0)), "more missed than steps");

export const savedPlaneSchema = part({
  seed: count,
  startedAt: moment,
  at: moment,
  workloads: z
    .record(
      id,
      part({
        slo: sloSchema,
        /** What its owner had asked for then: whoever asks for something else now is heard, over what a person set meanwhile. */
        given: part({ slo: sloSchema, mode: modeSchema }),
        revision: count,
        have: setting,
        twinHave: setting,
        /** The name of the twin's rules; null without a twin, and in what was written before there was a choice. */
        twinRules: id.nullable().default(null),
        account,
        /** null without a twin. */
        twinAccount: account.nullable(),
        /** null before the first step, and in what was written before there were budgets: it begins with what the history has. */
        budget: budget.nullable().default(null),
        troubleSince: moment.nullable(),
      }),
    )
    .readonly(),
  agents: z.record(id, part({ mode: modeSchema, isPaused: z.boolean(), revision: count })).readonly(),
  faults: list(part({ workload: id, fault: faultSchema, until: moment })),
});

export type SavedPlane = z.output<typeof savedPlaneSchema>;

/** What was counted of the learner's decisions (plane/steering.ts). */
const steering = part({
  total: part({ decisions: count, asProposed: count, less: count }).refine(
    ({ decisions, asProposed, less }) => asProposed <= decisions && less <= decisions,
    "more of one kind than decisions",
  ),
  /** The newest, oldest first, a digit each: 1 done as proposed, 2 less than the fallback alone, 3 both, 0 neither. */
  newest: z.string().regex(/^[0-3]{0,1000}$/),
});

/** What an agent's document shows of its life so far and the agent itself does not keep. It grows in place. */
export const agentNotesSchema = z.strictObject({
  begun: number,
  acting: z.enum(actors),
  episodes: z.array(part({ episode: number, reward: number, violations: number, stage: z.enum(stages) })),
  estimate: part({ at: number, mean: number, lower: number, upper: number }).nullable(),
  updates: number,
  /** Nothing yet in what was written before it was counted. */
  steering: steering.default({ total: { decisions: 0, asProposed: 0, less: 0 }, newest: "" }),
});

export type AgentNotes = z.output<typeof agentNotesSchema>;

/**
 * What a person has said about services: whether somebody may act on them, where `since` is null if nobody has said so, and
 * SLOs of request types in milliseconds, null where a person took back the one of the configuration.
 */
export const savedServicesSchema = part({
  mode: z.enum(actingModes),
  since: moment.nullable(),
  sloMs: z.record(requestName, requestSloMs.nullable()).readonly(),
});

export type SavedServices = z.output<typeof savedServicesSchema>;
