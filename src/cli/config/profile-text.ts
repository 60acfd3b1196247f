/**
 * A profile as the YAML it could have been written in, with everything that was left out.
 * Owns: the way back from a WorkloadProfile; reading the result again gives the same profile.
 */
import { stringify } from "yaml";
import type { DeviationThreshold, RewardThreshold } from "../../control/index.ts";
import type { WorkloadProfile } from "../../control/tasks/pods/index.ts";
import { guardText } from "./guard-schema.ts";
import { cpuText, memoryText } from "./quantity-text.ts";
import { sloText } from "./slo-yaml.ts";

export function profileYaml({ slo, bounds, guard, reward, controlStep, ...rest }: WorkloadProfile): string {
  const { workload, utilisation, ...others } = rest;
  const { online, serving, deviation } = reward.thresholds;
  return stringify({
    workload,
    slo: sloText(slo),
    bounds: {
      replicas: bounds.replicas,
      cpu: { min: cpuText(bounds.cpu.min), max: cpuText(bounds.cpu.max) },
      memory: { min: memoryText(bounds.memory.min), max: memoryText(bounds.memory.max) },
    },
    ...(guard ? { guard: guardText(guard) } : {}),
    utilisation,
    reward: {
      ...reward,
      thresholds: {
        online: thresholdText(online),
        serving: thresholdText(serving),
        deviation: deviationText(deviation),
      },
    },
    ...others,
    controlStepSeconds: controlStep / 1000,
  });
}

function thresholdText(threshold: RewardThreshold): unknown {
  switch (threshold.kind) {
    case "absolute":
      return threshold.value;
    case "fallback":
      return { timesFallback: threshold.times, plus: threshold.plus };
    case "converged":
      return { belowConverged: threshold.below };
  }
}

function deviationText(threshold: DeviationThreshold): unknown {
  return threshold.kind === "absolute"
    ? threshold.value
    : { timesFallback: threshold.times, atLeast: threshold.atLeast };
}
