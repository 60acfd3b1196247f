/**
 * The YAML of what `up` manages: a list of targets, each a profile with the simulated application and load it stands for.
 * Owns: these keys, the rules between targets, and the way from what was written to a Target.
 * Not here: a profile's own keys (profile-schema.ts), building a simulated workload of a target (cli/up).
 */
import { z } from "zod";
import type { WorkloadProfile } from "../../control/tasks/pods/index.ts";
import { segments } from "../../sim/index.ts";
import { jsonSchemaOf } from "./leaves.ts";
import { profileObject, profileOf } from "./profile-schema.ts";
import { cpuQuantity } from "./quantity.ts";

const segmentNames = segments.map(({ name }) => name);

/** Applications with a name of their own: the ones of the demonstration. */
export const namedApplications = ["web-shop", "image-resizing", "ml-serving", "queue-worker"] as const;

const simulate = z
  .strictObject({
    application: z
      .union(
        [z.enum(namedApplications), z.array(z.enum(segmentNames)).min(1).max(12)],
        `must be one of ${namedApplications.join(", ")}, or a list of segments: ${segmentNames.join(", ")}`,
      )
      .describe("an application of the demonstration, or the segments that a request calls, in order"),
    load: z
      .strictObject({
        shape: z
          .enum(["steady", "periodic", "on-off", "diurnal", "bursty"])
          .default("diurnal")
          .describe("how the requests come over a day"),
        meanPerSecond: z.number().positive().max(10_000).describe("requests per second over the whole load"),
      })
      .describe("a generated load of seven days; cut to what the largest deployment can serve"),
  })
  .describe("what the simulated cluster runs under this name");

const rules = z
  .strictObject({
    targetPercent: z.number().gt(0).max(100).optional().describe("the HPA's target, in percent of the CPU request"),
    minReplicas: z.int().min(1).optional().describe("the HPA's minReplicas"),
    minCpu: cpuQuantity.optional().describe("the VPA's minAllowed CPU"),
  })
  .prefault({})
  .describe("HPA and VPA beside the agent, and alone in a tuned twin");

const targetObject = profileObject.extend({
  title: z.string().min(1).max(80).optional().describe("its name for people; unless given, the workload's"),
  rules,
  simulate,
});

export interface Target {
  readonly title: string;
  readonly profile: WorkloadProfile;
  readonly rules: z.output<typeof rules>;
  readonly simulate: z.output<typeof simulate>;
}

export const targetSchema = targetObject.transform((given, context): Target => {
  const { title, rules: fallback, simulate: simulated, ...profile } = given;
  return { title: title ?? given.workload, profile: profileOf(profile, context), rules: fallback, simulate: simulated };
});

/** A target as somebody wrote it; `config print` shows it so, and threads are handed it so. */
export type WrittenTarget = Readonly<Record<string, unknown>>;

/** Checked where the settings are read, kept as it was written. */
export const targetsSetting = z
  .array(z.record(z.string(), z.unknown()))
  .max(100)
  .superRefine((written, context) => {
    const targets = written.map((one, index) => {
      const parsed = targetSchema.safeParse(one);
      for (const issue of parsed.error?.issues ?? []) context.addIssue({ ...issue, path: [index, ...issue.path] });
      return parsed.data;
    });
    for (const [index, target] of targets.entries()) {
      if (target === undefined) continue;
      const report = (key: string, message: string): void =>
        context.addIssue({ code: "custom", path: [index, key], message });
      const { workload, controlStep } = target.profile;
      const first = targets.findIndex((other) => other?.profile.workload === workload);
      if (first < index) report("workload", `must be another name: targets.${first} is '${workload}' already`);
      const step = targets.find((other) => other !== undefined)?.profile.controlStep;
      if (step !== undefined && controlStep !== step)
        report(
          "controlStepSeconds",
          `must be ${step / 1_000} as in the first target: all have their turns in one step`,
        );
    }
  })
  .default([])
  .meta({ items: jsonSchemaOf(targetSchema) })
  .describe("what `up` manages instead of its own workloads: profiles, and what the simulated cluster runs for each");

/** Of settings that were accepted, so nothing is refused here. */
export const parseTargets = (written: readonly WrittenTarget[]): readonly Target[] =>
  written.map((one) => targetSchema.parse(one));
