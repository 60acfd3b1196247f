/**
 * The YAML of how fast a workload may change: the guard's steps, cool-downs and budget.
 * Owns: its keys, and the way to and from a PodGuard. Not here: the usual values and why (control/tasks/pods), keeping
 * them (act's guard).
 */
import { z } from "zod";
import type { Ratio } from "../../base/index.ts";
import { minutes, ratio, seconds } from "../../base/index.ts";
import type { PodBounds, PodGuard } from "../../control/tasks/pods/index.ts";
import { usualPodGuard } from "../../control/tasks/pods/index.ts";
import { cpuQuantity, memoryQuantity } from "./quantity.ts";
import { cpuText, memoryText } from "./quantity-text.ts";

const usual = usualPodGuard({ replicas: { min: 1, max: 1 } });

const factor = z.number().min(0).max(100);
const wait = z.number().min(0).max(86_400);

/** What every knob has beside its own step. */
function paceOf(name: keyof PodGuard["step"]) {
  const { relative, down = relative } = usual.step[name];
  const { up: rise, down: fall } = usual.cooldown[name];
  return {
    up: factor.default(relative).describe("how far it may rise at once, times what is there: 1 is twice as much"),
    down: factor.default(down).describe("how far it may fall at once, times what is there: 0.5 is half"),
    cooldownUpSeconds: wait.default(rise / 1_000).describe("how long it stays as it was set before it may rise"),
    cooldownDownSeconds: wait.default(fall / 1_000).describe("how long it stays as it was set before it may fall"),
  };
}

const STEP = "how far one decision may always move it";
const { replicas, cpu, memory } = usual.step;

export const guardSchema = z
  .strictObject({
    replicas: z
      .strictObject({ step: z.int().min(1).default(replicas.absolute).describe(STEP), ...paceOf("replicas") })
      .prefault({}),
    cpu: z
      .strictObject({ step: cpuQuantity.prefault(cpuText(cpu.absolute)).describe(STEP), ...paceOf("cpu") })
      .prefault({}),
    memory: z
      .strictObject({ step: memoryQuantity.prefault(memoryText(memory.absolute)).describe(STEP), ...paceOf("memory") })
      .prefault({}),
    disruption: z
      .strictObject({
        pods: z
          .int()
          .min(0)
          .optional()
          .describe("that may be removed within the window; unless given, the most there may be"),
        windowMinutes: z
          .number()
          .gt(0)
          .default(usual.disruption.window / 60_000)
          .describe("over which removed pods are counted"),
      })
      .prefault({}),
  })
  .prefault({});

type Written = z.output<typeof guardSchema>;

export function guardOf(given: Written, bounds: PodBounds): PodGuard {
  const { disruption } = given;
  const stepOf = <T extends number>(absolute: T, { up, down }: { readonly up: number; readonly down: number }) => ({
    absolute,
    relative: ratio(up),
    down: ratio(down),
  });
  const cooldownOf = (one: Written["cpu"] | Written["replicas"]) => ({
    up: seconds(one.cooldownUpSeconds),
    down: seconds(one.cooldownDownSeconds),
  });
  return {
    step: {
      replicas: stepOf(given.replicas.step, given.replicas),
      cpu: stepOf(given.cpu.step, given.cpu),
      memory: stepOf(given.memory.step, given.memory),
    },
    cooldown: {
      replicas: cooldownOf(given.replicas),
      cpu: cooldownOf(given.cpu),
      memory: cooldownOf(given.memory),
    },
    disruption: { members: disruption.pods ?? bounds.replicas.max, window: minutes(disruption.windowMinutes) },
  };
}

/** As it could have been written. */
export function guardText({ step, cooldown, disruption }: PodGuard): unknown {
  const text = (name: keyof PodGuard["step"], amount: number | string) => {
    const { relative, down = relative }: { readonly relative: Ratio; readonly down?: Ratio } = step[name];
    const { up: rise, down: fall } = cooldown[name];
    return {
      step: amount,
      up: relative,
      down,
      cooldownUpSeconds: rise / 1_000,
      cooldownDownSeconds: fall / 1_000,
    };
  };
  return {
    replicas: text("replicas", step.replicas.absolute),
    cpu: text("cpu", cpuText(step.cpu.absolute)),
    memory: text("memory", memoryText(step.memory.absolute)),
    disruption: { pods: disruption.members, windowMinutes: disruption.window / 60_000 },
  };
}
