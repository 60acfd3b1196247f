/**
 * What keeps a learner from costing more violations than the fallback would, step by step.
 * Owns: four small rules, each of which a study can switch off: noise that only raises near the SLO, a band around the
 * fallback, relief when the SLO is missed, caution when it is near. Not here: bounds and rates (act's guard), how wide
 * the band is (lifecycle.ts).
 *
 * The paper's AWARE has none of these: `noShield`.
 */
import type { Allocation } from "../../act/index.ts";
import { dimensions } from "../../act/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Observation } from "../tasks/index.ts";

export interface ShieldOptions {
  /** Where the SLO is missed, memory runs out or measurements are missing, no value is below the fallback's. */
  readonly relief: { readonly memoryAt: number } | null;
  /** Where latency is this share of its target or more, nothing shrinks further than the fallback would shrink it. */
  readonly caution: { readonly at: number } | null;
  /** Exploration: the furthest that noise may push one coordinate; from this share of the target on only upwards. */
  readonly noise: { readonly limit: number; readonly upwardsAt: number } | null;
  /** No pod gets less memory than the hottest uses now, times this. */
  readonly memoryMargin: number | null;
}

export const defaultShield: ShieldOptions = Object.freeze({
  relief: { memoryAt: 0.9 },
  caution: { at: 0.8 },
  noise: { limit: 0.3, upwardsAt: 0.8 },
  memoryMargin: 1.1,
});

export const noShield: ShieldOptions = Object.freeze({ relief: null, caution: null, noise: null, memoryMargin: null });

/** What a decision is shielded by: the newest measurements, and what the fallback would do. */
export interface ShieldInput {
  readonly want: Allocation;
  readonly have: Allocation;
  readonly fallback: Allocation;
  readonly reading: WorkloadReading;
  readonly observation: Pick<Observation, "measures" | "held">;
}

export type ShieldRule =
  | "slo-missed"
  | "out-of-memory"
  | "memory-near-limit"
  | "measurements-missing"
  | "slo-near"
  | "memory-in-use";

export interface Shielded {
  readonly allocation: Allocation;
  /** The rules that changed something. */
  readonly raised: readonly ShieldRule[];
}

export function shielded(input: ShieldInput, options: ShieldOptions): Shielded {
  const { have, fallback, reading, observation } = input;
  let allocation = input.want;
  const raised: ShieldRule[] = [];
  const raise = (rule: ShieldRule, floor: Allocation): void => {
    const next = raisedTo(allocation, floor);
    if (dimensions.every((dimension) => next[dimension] === allocation[dimension])) return;
    allocation = next;
    raised.push(rule);
  };
  const alarm = options.relief && alarmOf(input, options.relief.memoryAt);
  if (alarm) raise(alarm, fallback);
  else if (options.caution && nearness(observation) >= options.caution.at) raise("slo-near", lowerOf(have, fallback));
  if (options.memoryMargin !== null) {
    const inUse = hottestMemory(reading) * options.memoryMargin;
    raise("memory-in-use", {
      ...allocation,
      memory: Math.max(allocation.memory, Math.ceil(inUse)) as Allocation["memory"],
    });
  }
  return { allocation, raised };
}

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
  if (preservation < 1) return Math.max(1, pressureAt(margin));
  return pressureAt(margin);
}

const pressureAt = (margin: number): number => (margin <= -1 ? Number.POSITIVE_INFINITY : (1 - margin) / (1 + margin));

export function raisedTo(want: Allocation, floor: Allocation): Allocation {
  return combine(want, floor, Math.max);
}

const lowerOf = (one: Allocation, other: Allocation): Allocation => combine(one, other, Math.min);

function combine(one: Allocation, other: Allocation, pick: (a: number, b: number) => number): Allocation {
  return Object.fromEntries(
    dimensions.map((dimension) => [dimension, pick(one[dimension], other[dimension])]),
  ) as unknown as Allocation;
}

function hottestMemory({ pods }: WorkloadReading): number {
  return pods.reduce((most, { memory }) => Math.max(most, memory ?? 0), 0);
}

function hottestShare({ pods }: WorkloadReading): number {
  return pods.reduce((most, { memory, memoryLimit }) => Math.max(most, memory === null ? 0 : memory / memoryLimit), 0);
}

/** The action, no further from the centre than the band in any coordinate, and within −1 and 1. In place. */
export function keepWithinBand(action: Float32Array, centre: Float32Array, band: number): void {
  for (let i = 0; i < action.length; i++) {
    const middle = centre[i] ?? 0;
    action[i] = clamp(clamp(action[i] ?? 0, middle - band, middle + band), -1, 1);
  }
}

/** What is left of a noisy action: at most the limit away from the calm one, and only above it near the SLO. In place. */
export function limitNoise(
  noisy: Float32Array,
  calm: Float32Array,
  { limit, isNear }: { readonly limit: number; readonly isNear: boolean },
): void {
  for (let i = 0; i < noisy.length; i++) {
    const middle = calm[i] ?? 0;
    noisy[i] = clamp(noisy[i] ?? 0, isNear ? middle : middle - limit, middle + limit);
  }
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
