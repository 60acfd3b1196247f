/**
 * One step of one workload as its clients and its bill saw it, and the sums of all steps.
 * Owns: turning a world's truth into samples and accounts, by the same rules for the managed world and for its twin.
 * Not here: what controllers are shown, which is less (observe/telemetry).
 */
import type { Allocation } from "../../act/index.ts";
import { perSecond } from "../../base/index.ts";
import type { AutoscaleTask } from "../../control/tasks/index.ts";
import { rewardParts } from "../../control/tasks/index.ts";
import { sloPreservation } from "../../observe/telemetry/index.ts";
import type { Account, AllocationDocument, Sample } from "../../server/index.ts";
import type { WorkloadTruth } from "../../sim/index.ts";

export const emptyAccount: Account = Object.freeze({
  steps: 0,
  violations: 0,
  cost: 0,
  cpuUsed: 0,
  cpuGranted: 0,
  memoryUsed: 0,
  memoryGranted: 0,
});

export interface Measured {
  readonly truth: WorkloadTruth;
  readonly have: Allocation;
  readonly ready: number;
  readonly task: AutoscaleTask;
}

const share = (used: number, granted: number): number => (granted > 0 ? Math.min(1, used / granted) : 0);
const none: Allocation = { replicas: 1, cpu: 1, memory: 1 } as Allocation;

export function sampleOf({ truth, have, ready, task }: Measured): Sample {
  const passed = Math.max(1, truth.to - truth.from) / 1_000;
  const { arrived, completed, timedOut, dropped, lost, latency } = truth;
  const preservation = sloPreservation(task.slo, {
    latency,
    offered: perSecond(arrived / passed),
    completed: perSecond(completed / passed),
    failed: perSecond((timedOut + dropped + lost) / passed),
  });
  const measures = {
    preservation: preservation ?? 1,
    margin: 0,
    cpu: share(truth.cpuUsed, truth.cpuLimit),
    memory: share(truth.memoryUsed, truth.memoryLimit),
  };
  // The paper's reward: head-room and the price of a switch are incentives for a learner, not facts about the step.
  const reward = rewardParts({ ...task, headroom: 0, switchCost: 0 }, { measures, allocation: none, previous: none });
  return {
    at: truth.to,
    load: arrived / passed,
    latency,
    preservation,
    ready,
    have: allocationDocument(have),
    use: { cpu: (truth.cpuUsed / passed) * 1_000, memory: truth.memoryUsed / passed },
    reward: reward.total,
    cost: truth.cost,
  };
}

export const allocationDocument = ({ replicas, cpu, memory }: Allocation): AllocationDocument => ({
  replicas,
  cpu,
  memory,
});

export function addTo(account: Account, truth: WorkloadTruth, { preservation }: Pick<Sample, "preservation">): Account {
  return {
    steps: account.steps + 1,
    violations: account.violations + (preservation !== null && preservation < 1 ? 1 : 0),
    cost: account.cost + truth.cost,
    cpuUsed: account.cpuUsed + truth.cpuUsed,
    cpuGranted: account.cpuGranted + truth.cpuLimit,
    memoryUsed: account.memoryUsed + truth.memoryUsed,
    memoryGranted: account.memoryGranted + truth.memoryLimit,
  };
}
