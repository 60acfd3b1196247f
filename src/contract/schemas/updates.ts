/**
 * The documents of updates.ts as schemas: what the stream sends.
 * Owns: one schema per document; plane.test.ts proves each equal to its plain type.
 */
import { z } from "zod";
import { document, list, orNull, part, when, whole } from "./parts.ts";
import {
  accountSchema,
  agentSchema,
  budgetSchema,
  decisionSchema,
  eventSchema,
  overviewSchema,
  sampleSchema,
  workloadSettings,
} from "./plane.ts";

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
          budget: orNull(budgetSchema),
        }),
      ),
    }),
    part({ kind: z.literal("workload"), workload: part(workloadSettings) }),
    part({ kind: z.literal("agent"), agent: agentSchema }),
    part({ kind: z.literal("decision"), decision: decisionSchema }),
    part({ kind: z.literal("event"), event: eventSchema }),
    part({ kind: z.literal("services"), at: when }),
    part({ kind: z.literal("fleet"), at: when }),
  ])
  .meta({ id: "LiveUpdate" });

export const snapshotSchema = document("Snapshot", {
  overview: overviewSchema,
  agents: list(agentSchema),
  events: list(eventSchema),
});
export const updatesSchema = list(liveUpdateSchema).meta({ id: "Updates" });
export const laggedSchema = document("Lagged", { samples: whole });
