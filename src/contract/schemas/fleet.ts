/**
 * The fleet's document as a schema. Owns: it; plane.test.ts proves it equal to its plain type.
 */
import { z } from "zod";
import { actors, serviceResources, stages } from "../index.ts";
import { document, list, measured, number, orNull, part, when, whole } from "./parts.ts";

const overTime = list(measured).meta({ description: "For each moment of the fleet's `series.at`." });
const share = number.meta({ description: "From 0 to 1." });

const lately = document("FleetLately", {
  steps: whole,
  missed: whole.meta({ description: "Those of the steps in which the SLO was missed." }),
  preservation: measured.meta({ description: "Mean SLO preservation: 1 is met." }),
  use: z
    .record(z.string(), measured)
    .readonly()
    .meta({ description: "What is used of what is granted, by name: cpu, memory." }),
  reward: measured,
});

const member = document("FleetMember", {
  workload: z.string(),
  title: z.string(),
  agent: z.string(),
  isPresent: z.boolean(),
  since: when,
  joins: whole.meta({ description: "How often it has come; those that were there at first have come once." }),
  attainment: number.meta({ description: "The share of steps that is to keep the SLO." }),
  stage: z.enum(stages),
  acting: z.enum(actors),
  lately,
  twin: orNull(lately),
  series: part({
    preservation: overTime,
    reward: overTime,
    use: z.record(z.string(), overTime).readonly(),
  }),
});

const host = document("FleetHost", {
  name: z.string(),
  cores: number,
  memory: number.meta({ description: "Bytes that containers may reserve." }),
  reserved: number,
  tenants: list(
    part({
      workload: z.string(),
      active: whole.meta({ description: "Containers that can work or are being started." }),
      spare: whole.meta({ description: "Containers that are paused and anybody's for the room they take." }),
      wanted: measured.meta({ description: "Cores that it would use alone, on average." }),
      used: measured,
    }),
  ),
  losses: orNull(
    list(
      part({
        workload: z.string(),
        by: z.string().nullable().meta({
          description:
            "Who wants the same; the workload itself in its own way, null: containers that are being started.",
        }),
        resource: z.enum(serviceResources),
        share: share.meta({ description: "Share of the time at work on this host that is lost to it." }),
      }),
    ),
  ).meta({ description: "Who holds up whom, the most first; null where the world does not tell." }),
});

export const fleetSchema = document("Fleet", {
  at: when,
  since: when,
  latelyMs: number.meta({ description: "What is said to be lately is over so long." }),
  members: list(member),
  changes: list(part({ at: when, workload: z.string(), kind: z.enum(["joined", "left"]) })),
  series: part({
    at: list(when),
    reward: overTime,
    twinReward: orNull(overTime),
    present: list(whole),
  }),
  hosts: orNull(list(host)).meta({ description: "Machines that members share; null where the world does not tell." }),
});
