/**
 * The YAML of a workload's profile.
 * Owns: its keys, defaults and units, and the way from it to a WorkloadProfile.
 * Not here: rules that hold however a profile is written (control/tasks), reading files (profile.ts).
 */
import { z } from "zod";
import { modes, parseWorkloadId, ratio, seconds } from "../../base/index.ts";
import type { DeviationThreshold, RewardThreshold } from "../../control/index.ts";
import type { WorkloadProfile } from "../../control/tasks/pods/index.ts";
import {
  objectiveKinds,
  profileProblems,
  sharpSwitchCost,
  thresholdsFor,
  usualHeadroom,
} from "../../control/tasks/pods/index.ts";
import { guardOf, guardSchema } from "./guard-schema.ts";
import { cpuQuantity, memoryQuantity } from "./quantity.ts";
import { sloYaml } from "./slo-yaml.ts";

const workload = z.string().transform((text, context) => {
  const id = parseWorkloadId(text);
  if (id.ok) return id.value;
  context.addIssue({ code: "custom", message: `must be a name: ${id.failure.message}` });
  return z.NEVER;
});

const threshold = z
  .union(
    [
      z.number(),
      z.strictObject({ timesFallback: z.number(), plus: z.number().default(0) }),
      z.strictObject({ belowConverged: z.number() }),
    ],
    "must be a reward per episode, 'timesFallback: 1' (with 'plus: 5') or 'belowConverged: 5'",
  )
  .transform((given): RewardThreshold => {
    if (typeof given === "number") return { kind: "absolute", value: given };
    if ("belowConverged" in given) return { kind: "converged", below: given.belowConverged };
    return { kind: "fallback", times: given.timesFallback, plus: given.plus };
  });

const deviation = z
  .union(
    [z.number(), z.strictObject({ timesFallback: z.number().min(0), atLeast: z.number().min(0).default(0) })],
    "must be a deviation of rewards per episode, or 'timesFallback: 1.5' (with 'atLeast: 5')",
  )
  .transform((given): DeviationThreshold => {
    if (typeof given === "number") return { kind: "absolute", value: given };
    return { kind: "fallback", times: given.timesFallback, atLeast: given.atLeast };
  });

const share = z.number().gt(0).max(1);
const weight = z.number().min(0).default(0);
const count = z.int().min(0);

/** The keys of a profile; a target of `up` has some more (target-schema.ts). */
export const profileObject = z.strictObject({
  workload: workload.describe("the workload that is managed"),
  slo: sloYaml.describe("what it promises its clients"),
  bounds: z
    .strictObject({
      replicas: z.strictObject({ min: count.default(1), max: z.int().min(1) }).describe("how many there may be"),
      cpu: z
        .strictObject({ min: cpuQuantity, max: cpuQuantity })
        .describe("limit of one replica, in cores (1.5) or millicores (250m)"),
      memory: z
        .strictObject({ min: memoryQuantity, max: memoryQuantity })
        .describe("limit of one replica, in bytes or with a unit (512Mi, 2G)"),
    })
    .describe("that no decision passes, whoever makes it"),
  objective: z
    .enum(objectiveKinds)
    .optional()
    .describe("the least of what within the error budget; paper: AWARE's reward, which a sharedModel needs"),
  carbonIntensity: z
    .union([z.number(), z.array(z.number())], "must be grams of CO2 per kWh: one number, or a list of 24")
    .transform((given): readonly number[] => (typeof given === "number" ? [given] : given))
    .optional()
    .describe(
      "of the grid, where carbon counts: grams of CO2 per kWh, one number or 24, hour by hour from midnight UTC",
    ),
  weights: z
    .strictObject({ cost: weight, energy: weight, carbon: weight })
    .optional()
    .describe("with objective weights: how much each counts; 1 is as much of it as a core with 4 GiB takes"),
  attainment: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.99)
    .describe("share of control steps that are to keep the SLO; the rest is the error budget"),
  portfolio: z
    .boolean()
    .optional()
    .describe(
      "let a prior that was searched in a model of the workload plan where it would be cheaper; unless given, no",
    ),
  guard: guardSchema.describe("how fast it may change, whoever asks for it"),
  utilisation: z
    .strictObject({ cpu: share.default(1), memory: share.default(1) })
    .prefault({})
    .describe("use over limit that counts in full"),
  reward: z
    .strictObject({
      alpha: z.number().min(0).max(1).default(0.5).describe("weight of the SLO; the rest is utilisation's"),
      headroom: z
        .number()
        .min(0)
        .lt(1)
        .default(usualHeadroom)
        .describe("share of the latency target to stay below it by; 0 is the paper's"),
      switchCost: z.number().min(0).default(sharpSwitchCost).describe("weight of changes; 0 is the paper's"),
      thresholds: z
        .strictObject({
          online: threshold.optional().describe("before the learner may act"),
          serving: threshold.optional().describe("before it stops learning"),
          deviation: deviation.optional().describe("of episode rewards that is called steady"),
        })
        .prefault({}),
    })
    .prefault({}),
  bootstrap: z.boolean().default(true).describe("let the fallback act until the learner has learned from it"),
  stakes: z.enum(["high", "normal"]).default("normal").describe("high: the fallback acts during retraining"),
  risk: z
    .number()
    .min(0)
    .default(0)
    .describe("steps of violation beyond the fallback's that may be risked to save CPU; 0: CPU stays the fallback's"),
  mode: z.enum(modes).default("recommend").describe("how much of it is carried out"),
  controlStepSeconds: z.number().min(1).max(3600).default(15).describe("between two decisions"),
  episodeSteps: z.int().min(10).default(100).describe("decisions that rewards are summed over"),
  learner: z
    .strictObject({
      kind: z.string().min(1).describe("bcq, td3, ddpg, ppo, or the kind of a learner from a module"),
      config: z.record(z.string(), z.unknown()).default({}).describe("settings of it that are not to be as usual"),
    })
    .optional()
    .describe("what learns; unless given, bcq, which becomes td3 as it is let go"),
  sharedModel: z
    .string()
    .min(1)
    .optional()
    .describe(
      "what `coxswain pretrain` left, or `shipped` for the model that comes with the package: its policy acts at once, or, where stakes are high, after bootstrapping",
    ),
});

export const profileSchema = profileObject.transform(profileOf);

/** The profile that was written, or its problems, each at its place. */
export function profileOf(given: z.output<typeof profileObject>, context: z.RefinementCtx): WorkloadProfile {
  const { controlStepSeconds, utilisation, guard, sharedModel, learner, reward, attainment, ...others } = given;
  const { carbonIntensity, weights, portfolio, ...rest } = others;
  const usualAim = sharedModel === undefined ? "cost" : "paper";
  const objective = given.objective ?? (weights === undefined ? usualAim : "weights");
  const { online, serving, deviation } = reward.thresholds;
  const usual = thresholdsFor(objective);
  const profile: WorkloadProfile = {
    ...rest,
    objective,
    attainment: ratio(attainment),
    reward: {
      ...reward,
      thresholds: {
        online: online ?? usual.online,
        serving: serving ?? usual.serving,
        deviation: deviation ?? usual.deviation,
      },
    },
    guard: guardOf(guard, rest.bounds),
    utilisation: { cpu: ratio(utilisation.cpu), memory: ratio(utilisation.memory) },
    controlStep: seconds(controlStepSeconds),
    ...(carbonIntensity === undefined ? {} : { carbonIntensity }),
    ...(weights === undefined ? {} : { weights }),
    ...(portfolio === undefined ? {} : { portfolio }),
    ...(sharedModel === undefined ? {} : { sharedModel }),
    ...(learner === undefined ? {} : { learner }),
  };
  for (const { path, reason } of profileProblems(profile))
    context.addIssue({ code: "custom", path: [...path], message: reason });
  return profile;
}
