/**
 * What people are shown of a workload of pods.
 * Owns: its knobs by name, what a reading says of a step, and the words for what is short and what was changed.
 * Not here: what a policy is shown (observation.ts), a simulator's truth, which may lie over it (cli/up).
 */
import type { Allocation } from "../../../act/index.ts";
import type { Ms } from "../../../base/index.ts";
import type { PodReading, WorkloadReading } from "../../../observe/telemetry/index.ts";
import { sloPreservation } from "../../../observe/telemetry/index.ts";
import type { KnobTitle, Measured, MeasuredStep, Symptom, TaskView } from "../../index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Aim } from "./rates.ts";
import { rewardParts } from "./reward.ts";

export interface PodViewOptions {
  /** What the reward is judged by. */
  readonly task: Pick<AutoscaleTask, "alpha" | "utilisation">;
  /** Pods that there may be. */
  readonly most: number;
  /** Dollars for an allocation over so long; without a price list nothing has a cost. */
  readonly priceOf?: (have: Allocation, passed: Ms) => number;
}

/** As a person reads it. */
export function objectiveWords({ objective, weights = {}, carbonIntensity = [] }: Aim): string {
  if (objective === "paper") return "SLO preservation and utilisation, as in the paper";
  const mix = Object.entries(weights).filter(([, weight]) => weight > 0);
  const what = objective === "weights" ? mix.map(([name, weight]) => `${weight} × ${name}`).join(" + ") : objective;
  const grid = carbonIntensity.length === 0 ? "" : ` at ${gramsOf(carbonIntensity)} g/kWh`;
  return `least ${what}${grid} within the error budget`;
}

function gramsOf(carbonIntensity: readonly number[]): string {
  const [least, most] = [Math.min(...carbonIntensity), Math.max(...carbonIntensity)];
  return least === most ? String(least) : `${least} to ${most}`;
}

const knobs: readonly KnobTitle[] = [
  { name: "replicas", title: "Replicas", unit: "pods" },
  { name: "cpu", title: "CPU per pod", unit: "millicores" },
  { name: "memory", title: "Memory per pod", unit: "bytes" },
];

export function podView({ task, most, priceOf }: PodViewOptions): TaskView<WorkloadReading, Allocation> {
  return {
    name: "pods",
    knobs,
    sums: Object.keys(podSums(nothing, nothing)),
    measure: (reading, step) => ({
      ...(reading === null ? unseen(step.have) : seen(reading, task, step)),
      cost: priceOf?.(step.have, step.passed) ?? 0,
    }),
    symptom: symptomOf,
    changes: changesOf,
    standing: ({ replicas }) => `${pods(replicas)}${replicas >= most ? ", the most there may be" : ""}`,
  };
}

/** Sums of used and granted core-seconds and byte-seconds, as accounts call them. */
export const podSums = (used: { cpu: number; memory: number }, granted: { cpu: number; memory: number }) => ({
  cpuUsed: used.cpu,
  cpuGranted: granted.cpu,
  memoryUsed: used.memory,
  memoryGranted: granted.memory,
});

/** The paper's reward: head-room and the price of a switch are incentives for a learner, not facts about the step. */
export function podReward(
  task: PodViewOptions["task"],
  {
    preservation,
    cpu,
    memory,
  }: { readonly preservation: number | null; readonly cpu: number; readonly memory: number },
): number {
  const measures = { preservation: preservation ?? 1, margin: 0, cpu, memory };
  return rewardParts({ ...task, headroom: 0, switchCost: 0 }, { measures, allocation: none, previous: none }).total;
}

const nothing = { cpu: 0, memory: 0 };
const none = { replicas: 1, cpu: 1, memory: 1 } as Allocation;

function unseen(have: Allocation): Omit<Measured, "cost"> {
  const sums = podSums(nothing, nothing);
  const use = { cpu: null, memory: null };
  return { load: null, latency: null, preservation: null, ready: have.replicas, use, reward: null, sums, harmed: 0 };
}

function seen(
  reading: WorkloadReading,
  task: PodViewOptions["task"],
  { slo, passed }: MeasuredStep<Allocation>,
): Omit<Measured, "cost"> {
  const { pods: all, use, offered, latency } = reading;
  const preservation = sloPreservation(slo, reading);
  const used = { cpu: sumOf(all, "cpu"), memory: sumOf(all, "memory") };
  const running = all.filter(({ cpu }) => cpu !== null);
  const seconds = passed / 1_000;
  return {
    load: offered,
    latency,
    preservation,
    ready: all.filter(({ readyAt }) => readyAt !== null).length,
    use: used,
    reward:
      preservation === null || use.cpu === null || use.memory === null
        ? null
        : podReward(task, { preservation, cpu: Math.min(1, use.cpu), memory: Math.min(1, use.memory) }),
    sums: podSums(
      { cpu: ((used.cpu ?? 0) * seconds) / 1_000, memory: (used.memory ?? 0) * seconds },
      {
        cpu: (running.reduce((sum, { cpuLimit }) => sum + cpuLimit, 0) * seconds) / 1_000,
        memory: running.reduce((sum, { memoryLimit }) => sum + memoryLimit, 0) * seconds,
      },
    ),
    harmed: reading.ooms.length,
  };
}

/** Null where no pod was measured. */
function sumOf(all: readonly PodReading[], name: "cpu" | "memory"): number | null {
  let sum: number | null = null;
  for (const pod of all) if (pod[name] !== null) sum = (sum ?? 0) + (pod[name] as number);
  return sum;
}

function symptomOf({ measured, have, harmed, isExplained }: Symptom<Allocation>): string {
  const { ready, use } = measured;
  const members = Math.max(1, ready);
  const cpu = (use.cpu ?? 0) / (have.cpu * members);
  const memory = (use.memory ?? 0) / (have.memory * members);
  if (harmed > 0) return `memory is short, ${harmed} pods were killed for it`;
  if (ready < have.replicas) return `replicas are short, ${ready} of ${have.replicas} are ready`;
  if (cpu >= 0.8) return `CPU is short, ${Math.round(100 * cpu)} % of it is used`;
  if (memory >= 0.95) return `memory is short, ${Math.round(100 * memory)} % of it is used`;
  if (cpu >= 0.45) return `CPU is short in bursts, ${Math.round(100 * cpu)} % of it is used on average`;
  const calm = `nothing is used up (CPU ${Math.round(100 * cpu)} %, memory ${Math.round(100 * memory)} %)`;
  return isExplained ? calm : `${calm}, so pods are too slow or too few for bursts`;
}

/** Of a limit: less is not worth a word. */
const NOTABLE = 0.1;

function changesOf(had: Allocation, have: Allocation): readonly string[] {
  const change = have.replicas - had.replicas;
  const isOther = (name: "cpu" | "memory") => Math.abs(have[name] / had[name] - 1) > NOTABLE;
  return [
    ...(change === 0 ? [] : [pods(Math.abs(change), change > 0 ? "more " : "fewer ")]),
    ...(isOther("cpu") ? [`${cores(have.cpu)} instead of ${cores(had.cpu)} cores a pod`] : []),
    ...(isOther("memory") ? [`${mebibytes(have.memory)} instead of ${mebibytes(had.memory)} MiB a pod`] : []),
  ];
}

const pods = (count: number, more = ""): string => `${count} ${more}${count === 1 ? "pod" : "pods"}`;
const cores = (millicores: number): number => Number((millicores / 1_000).toFixed(2));
const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
