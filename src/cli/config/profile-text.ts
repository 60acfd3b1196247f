/**
 * A profile as the YAML it could have been written in, with everything that was left out.
 * Owns: the way back from a WorkloadProfile; reading the result again gives the same profile.
 */
import { stringify } from "yaml";
import type { Bytes, Millicores } from "../../base/index.ts";
import type { DeviationThreshold, RewardThreshold, WorkloadProfile } from "../../control/tasks/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";

export function profileYaml({ slo, bounds, reward, controlStep, ...rest }: WorkloadProfile): string {
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

function sloText(slo: Slo): unknown {
  switch (slo.kind) {
    case "none":
      return "none";
    case "latency":
      // 0.99 · 100 is 99 and 0.999 · 100 is 99.9, but for the last digits.
      return { latency: { percentile: Number((slo.percentile * 100).toPrecision(12)), targetMs: slo.target } };
    case "throughput":
      return { throughput: { targetPerSecond: slo.target } };
  }
}

const cpuText = (amount: Millicores): string => `${amount}m`;

function memoryText(amount: Bytes): string | number {
  for (const [unit, size] of [
    ["Gi", 2 ** 30],
    ["Mi", 2 ** 20],
    ["Ki", 2 ** 10],
  ] as const)
    if (amount % size === 0) return `${amount / size}${unit}`;
  return amount;
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
