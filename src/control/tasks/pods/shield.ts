/**
 * What keeps a learner from costing more violations than the fallback would, step by step.
 * Owns: small rules, each of which a study can switch off. Not here: bounds and rates (act's guard), how wide the
 * canary's band is (control/lifecycle).
 *
 *   tolerance   a wish that differs little from what is there changes nothing: no churn from a trembling policy
 *   relief      where the SLO is missed, memory runs out or measurements are missing, no value is below the fallback's
 *   thrift      below the fallback's CPU only while some of the violations that may be risked for it are left; by default
 *               none may be
 *   caution     where latency comes near its target, CPU shrinks no further than the fallback would shrink it
 *   memory      no pod gets less memory than pods needed lately, with a margin, unless the fallback gives less too
 *   ceiling     no more than a multiple of what the fallback gives: far above the need, utilisation hardly changes with
 *               what is given, so a policy that has strayed there learns no way back; by default no more than it gives,
 *               except where the SLO was missed lately: there the fallback's is no measure of what is enough
 *   descent     what is taken away goes in small parts, each after the effect of the one before has been measured
 *   noise       exploration is limited, and takes no CPU away where the SLO is near
 *
 * The paper's AWARE has none of these: `noShield`.
 */
import type { Allocation } from "../../../act/index.ts";
import type { Reason } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { Experience, Shield } from "../../index.ts";
import { actionOrder, decodeAction, encodeAction } from "./action.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Demand } from "./demand.ts";
import type { Observation } from "./observation.ts";

export interface ShieldOptions {
  /** In action coordinates, where the whole range is 2. */
  readonly tolerance: number | null;
  readonly relief: { readonly memoryAt: number } | null;
  /** Steps of violation beyond the fallback's that may be risked to find CPU to save; 0: none, CPU is the fallback's. */
  readonly thrift: { readonly allowance: number } | null;
  /** From this share of the way from the fallback's usual latency to the target. */
  readonly caution: { readonly share: number } | null;
  readonly noise: { readonly limit: number } | null;
  readonly memoryMargin: number | null;
  /**
   * Times the fallback's CPU in all, and times its memory per pod: `times` while the SLO is kept, more as the share of
   * steps that missed it lately grows.
   */
  readonly ceiling: { readonly times: number; readonly trouble: Trouble | null } | null;
  /** The largest part of all CPU, and of a pod's memory, that goes at once, and the steps from one to the next. */
  readonly descent: { readonly part: number; readonly settle: number } | null;
}

/** At a share of missed steps of `from` the ceiling begins to rise, and at `to` it is `times`. */
export interface Trouble {
  readonly from: number;
  readonly to: number;
  readonly times: number;
}

export const defaultShield: ShieldOptions = Object.freeze({
  tolerance: 0.05,
  relief: { memoryAt: 0.9 },
  // Where the fallback's settings were found by careful trials, less CPU cost violations and saved nothing that lasted.
  thrift: { allowance: 0 },
  caution: { share: 0.5 },
  noise: { limit: 0.3 },
  // Memory is measured at moments: in between more requests may be under way at once.
  memoryMargin: 1.3,
  // Well-set rules miss one step in a hundred, in bursts of a few; from there up they are not well set any more.
  ceiling: { times: 1, trouble: { from: 0.02, to: 0.1, times: 2 } },
  // Six steps: the metrics' delay and the SLO's window together.
  descent: { part: 0.15, settle: 6 },
});

/** How much CPU more than the fallback's a learner may give where it may also give less. */
const FREE_CEILING = 1.1;

/** The shield that a workload's owner asks for: with something to risk, the learner decides about CPU as well. */
export function shieldOf({ risk }: { readonly risk: number }): ShieldOptions {
  if (risk === 0) return defaultShield;
  const ceiling = defaultShield.ceiling && { ...defaultShield.ceiling, times: FREE_CEILING };
  return { ...defaultShield, thrift: { allowance: risk }, ceiling };
}

export const noShield: ShieldOptions = Object.freeze({
  tolerance: null,
  relief: null,
  thrift: null,
  caution: null,
  noise: null,
  memoryMargin: null,
  ceiling: null,
  descent: null,
});

/** What a decision is shielded by: the newest measurements, the experience so far, and what the fallback would do. */
export interface ShieldInput {
  readonly task: Pick<AutoscaleTask, "bounds" | "actions">;
  readonly want: Allocation;
  readonly have: Allocation;
  readonly fallback: Allocation;
  readonly reading: WorkloadReading;
  readonly observation: Pick<Observation, "measures" | "held" | "demand">;
  readonly experience: Experience;
}

export type ShieldRule =
  | "slo-missed"
  | "out-of-memory"
  | "memory-near-limit"
  | "measurements-missing"
  | "savings-spent"
  | "slo-near"
  | "memory-needed"
  | "descends-slowly"
  | "more-than-enough";

export interface Shielded {
  readonly allocation: Allocation;
  /** The rules that changed something. */
  readonly changed: readonly ShieldRule[];
}

export function shielded(input: ShieldInput, options: ShieldOptions): Shielded {
  const { have, fallback, observation, experience } = input;
  let allocation = input.want;
  const changed: ShieldRule[] = [];
  const become = (rule: ShieldRule, next: Allocation): void => {
    const { replicas, cpu, memory } = allocation;
    if (next.replicas === replicas && next.cpu === cpu && next.memory === memory) return;
    allocation = next;
    changed.push(rule);
  };
  const raise = (rule: ShieldRule, floor: Partial<Allocation>): void => become(rule, raisedTo(allocation, floor));
  const { relief, thrift, caution, memoryMargin, ceiling, descent } = options;
  if (descent) raise("descends-slowly", nextRungDown(input, descent));
  const alarm = relief && alarmOf(input, relief.memoryAt);
  if (alarm) raise(alarm, fallback);
  if (thrift && Math.max(0, experience.excess) >= thrift.allowance) raise("savings-spent", cpuOf(fallback));
  if (caution && isNear(observation, { share: caution.share, usual: experience.usualNearness }))
    raise("slo-near", cpuOf(lowerOf(have, fallback)));
  if (memoryMargin !== null) {
    const needed = Math.ceil(observation.demand.memory * memoryMargin);
    // One backlog makes a peak that lasts for hours; more than the fallback gives is never asked for.
    raise("memory-needed", { memory: Math.min(needed, fallback.memory) as Allocation["memory"] });
  }
  // Last: rules that raise one value each can make many large pods of many small ones.
  if (ceiling) become("more-than-enough", atMost(allocation, input, timesOf(ceiling, experience)));
  return { allocation, changed };
}

/** The rules as an agent asks for them: first what a trembling policy may not change, then the rest. */
export function podShield(
  task: AutoscaleTask,
  options: ShieldOptions,
): Shield<WorkloadReading, Allocation, Observation> {
  const { tolerance, caution, noise, ceiling } = options;
  return {
    shape({ action, seen, reading, have, fallback, experience }) {
      const { demand } = seen;
      const want =
        tolerance === null ? decodeAction(task, action, demand) : steadied(task, action, { have, demand, tolerance });
      const { allocation, changed } = shielded(
        { task, want, have, fallback, reading, observation: seen, experience },
        options,
      );
      return { setting: allocation, changed: changed.map(reasonOf) };
    },
    hasCeiling: ceiling !== null,
    noise: noise && { limit: noise.limit, upwards: actionOrder.map((name) => name !== "memory") },
    isNear: (seen, usual) => noise !== null && caution !== null && isNear(seen, { share: caution.share, usual }),
  };
}

const reasonOf = (rule: ShieldRule): Reason => ({ by: "shield", rule });

/** Memory is watched over by its own rules: it is not what latency is short of. */
const cpuOf = ({ replicas, cpu }: Allocation): Partial<Allocation> => ({ replicas, cpu });

function timesOf({ times, trouble }: NonNullable<ShieldOptions["ceiling"]>, { missedLately }: Experience): number {
  if (!trouble) return times;
  const share = clamp((missedLately - trouble.from) / (trouble.to - trouble.from), 0, 1);
  return times + Math.max(0, trouble.times - times) * share;
}

/** Fewer pods before smaller ones: pods below the fallback's size may be too slow, however many there are. */
function atMost(wish: Allocation, { fallback }: ShieldInput, times: number): Allocation {
  const cores = times * coresOf(fallback);
  const replicas = Math.min(wish.replicas, Math.max(fallback.replicas, Math.floor(cores / wish.cpu)));
  const cpu = Math.min(wish.cpu, Math.max(fallback.cpu, Math.floor(cores / Math.max(1, replicas))));
  return { replicas, cpu, memory: Math.min(wish.memory, Math.floor(times * fallback.memory)) } as Allocation;
}

/**
 * The least that may follow what there is. CPU counts as a whole, over the pods that are ready: fewer pods are larger
 * ones, and pods do not shrink before those that are to help them have started. The fallback's own values are no less
 * safe than the fallback.
 */
function nextRungDown(input: ShieldInput, { part, settle }: NonNullable<ShieldOptions["descent"]>): Allocation {
  const { want, have, fallback, reading, experience, task } = input;
  const isDue = experience.sinceShrink >= settle;
  const kept = isDue ? 1 - part : 1;
  const cores = Math.min(kept * coresOf(have), coresOf(fallback));
  const ready = reading.pods.filter(({ readyAt }) => readyAt !== null).length;
  const each = (replicas: number): number => Math.ceil(cores / Math.max(1, Math.min(replicas, ready)));
  const fewer = Math.max(want.replicas, Math.min(isDue ? have.replicas - 1 : have.replicas, fallback.replicas));
  // Where one pod cannot take over what another did, the other stays.
  const replicas = each(fewer) > task.bounds.cpu.max ? Math.max(fewer, have.replicas) : fewer;
  const memory = Math.ceil(Math.min(kept * have.memory, fallback.memory));
  return { replicas, cpu: Math.min(each(replicas), task.bounds.cpu.max), memory } as Allocation;
}

/** All CPU, in millicores. */
export const coresOf = ({ replicas, cpu }: Allocation): number => replicas * cpu;

/** Why no value may be below the fallback's in this step. */
function alarmOf({ reading, observation }: ShieldInput, memoryAt: number): ShieldRule | undefined {
  if (observation.measures.preservation < 1) return "slo-missed";
  if (reading.ooms.length > 0) return "out-of-memory";
  if (hottestShare(reading) >= memoryAt) return "memory-near-limit";
  if (observation.held.length > 0) return "measurements-missing";
  return undefined;
}

/** How much of the SLO is used up: latency over its target. From the margin m = (1 − p)/(1 + p), so p = (1 − m)/(1 + m). */
export function nearness({ measures: { margin, preservation } }: Pick<Observation, "measures">): number {
  const pressure = margin <= -1 ? Number.POSITIVE_INFINITY : (1 - margin) / (1 + margin);
  return preservation < 1 ? Math.max(1, pressure) : pressure;
}

/**
 * Relative to what is usual: an SLO of 1.2 times the best possible latency is never further than a sixth away, and one
 * of ten times is far away even where trouble begins.
 */
export function isNear(
  observation: Pick<Observation, "measures">,
  { share, usual }: { readonly share: number; readonly usual: number },
): boolean {
  const from = Math.min(Math.max(usual, 0), 1);
  return nearness(observation) >= from + share * (1 - from);
}

// Written out, because this is passed in every step and a spread costs several times as much.
export function raisedTo(want: Allocation, floor: Partial<Allocation>): Allocation {
  const { replicas = want.replicas, cpu = want.cpu, memory = want.memory } = floor;
  return combine(want, { replicas, cpu, memory }, Math.max);
}

const lowerOf = (one: Allocation, other: Allocation): Allocation => combine(one, other, Math.min);

function combine(one: Allocation, other: Allocation, pick: (a: number, b: number) => number): Allocation {
  return {
    replicas: pick(one.replicas, other.replicas),
    cpu: pick(one.cpu, other.cpu),
    memory: pick(one.memory, other.memory),
  } as Allocation;
}

function hottestShare({ pods }: WorkloadReading): number {
  return pods.reduce((most, { memory, memoryLimit }) => Math.max(most, memory === null ? 0 : memory / memoryLimit), 0);
}

/** The wish, with everything left as it is that it would change by little. */
export function steadied(
  task: Pick<AutoscaleTask, "bounds" | "actions">,
  action: Float32Array,
  { have, demand, tolerance }: { readonly have: Allocation; readonly demand: Demand; readonly tolerance: number },
): Allocation {
  const current = encodeAction(task, have, demand);
  const isKept = action.map((to, i) => {
    const from = current[i] ?? 0;
    // What is at the end of the scale may be far beyond it.
    return Number(Math.abs(to - from) <= tolerance && Math.abs(from) < 1);
  });
  const kept = action.map((to, i) => (isKept[i] ? (current[i] ?? 0) : to));
  const wish = decodeAction(task, kept, demand);
  // Replicas come in whole steps, so theirs is a tolerance at the edge between two of them.
  const reluctant = decodeAction(
    task,
    kept.map((to, i) => (actionOrder[i] === "replicas" ? towards(to, current[i] ?? 0, tolerance) : to)),
    demand,
  );
  return {
    cpu: isKept[0] ? have.cpu : wish.cpu,
    memory: isKept[1] ? have.memory : wish.memory,
    replicas: isKept[2] || reluctant.replicas === have.replicas ? have.replicas : wish.replicas,
  };
}

const towards = (from: number, to: number, by: number): number =>
  from > to ? Math.max(to, from - by) : Math.min(to, from + by);

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
