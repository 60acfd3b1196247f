/**
 * From wishes to one guarded plan: the fallback's, or the learner's within canary band and shield.
 * Owns: the order band, tolerance, shield, guard; how a wish that is not followed would have fared. Pure.
 * Not here: whose turn it is (health.ts), what comes of the plan (agent.ts).
 */
import type { Allocation, GuardLimits, GuardRule, GuardState, NodeRoom, Proposal, Verdict } from "../../act/index.ts";
import { guard } from "../../act/index.ts";
import type { Ms, WorkloadId } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { FallbackStep } from "../fallbacks/index.ts";
import type { AutoscaleTask, Observation } from "../tasks/index.ts";
import { decodeAction, encodeAction } from "../tasks/index.ts";
import type { Less } from "./footprint.ts";
import { WHOLE_BAND } from "./lifecycle.ts";
import type { Band, Experience, ShieldOptions } from "./shield.ts";
import { coresOf, keepWithinBand, shielded, steadied } from "./shield.ts";

/** What is known when a decision is made. */
export interface Moment {
  readonly workload: WorkloadId;
  readonly task: AutoscaleTask;
  readonly reading: WorkloadReading;
  readonly have: Allocation;
  readonly fallback: Pick<FallbackStep<unknown>, "want" | "pods">;
  /** What there would be if the fallback had been alone (as-if-alone.ts). */
  readonly alone: Allocation;
  readonly guard: { readonly limits: GuardLimits; readonly state: GuardState };
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
}

const NOTHING_LESS: Less = { cpu: false, memory: false };

export interface Plan {
  readonly verdict: Verdict;
  /** What shield and guard changed. */
  readonly notes: readonly string[];
  /** What it gives less of than the fallback would. */
  readonly less: Less;
}

export function planFallback(moment: Moment): Plan {
  const { want, pods } = moment.fallback;
  return guarded(moment, pods ? { want, pods } : { want });
}

/**
 * The fallback's wish right after the learner: for every pod, not only for those that its updater would touch. Its rules
 * leave pods alone that somebody else has sized, down to a lone pod that is killed for want of memory over and over.
 */
export function planTakeover(moment: Moment): Plan {
  const { alone: want } = moment;
  const pods = laggards(want, moment);
  return guarded(moment, pods ? { want, pods } : { want });
}

export interface LearnersWish {
  readonly action: Float32Array;
  readonly observation: Observation;
  readonly band: Band;
  readonly shield: ShieldOptions;
  readonly experience: Experience;
}

export function planLearner(moment: Moment, wish: LearnersWish): Plan {
  const { action, observation, band, shield, experience } = wish;
  const { task, have, reading, alone } = moment;
  const { demand } = observation;
  const chosen = action.slice();
  const isCanary = Math.min(band.below, band.above) < WHOLE_BAND;
  if (isCanary) keepWithinBand(chosen, encodeAction(task, alone, demand), band);
  const { tolerance } = shield;
  const want =
    tolerance === null ? decodeAction(task, chosen, demand) : steadied(task, chosen, { have, demand, tolerance });
  const safe = shielded({ task, want, have, fallback: alone, reading, observation, experience }, shield);
  const late = laggards(safe.allocation, moment);
  const guardedWish = late ? { want: safe.allocation, pods: late } : { want: safe.allocation };
  const { verdict, notes } = guarded(moment, guardedWish);
  const { allocation } = verdict;
  const less: Less = {
    // Smaller pods are slower ones, however many there are.
    cpu: coresOf(allocation) < coresOf(alone) || allocation.cpu < alone.cpu,
    memory: allocation.memory < alone.memory,
  };
  return { verdict, notes: [...(isCanary ? ["canary"] : []), ...safe.changed, ...notes], less };
}

function guarded(moment: Moment, { want, pods }: Pick<Proposal, "want" | "pods">): Plan {
  const { workload, reading, have, nodes, now } = moment;
  const { limits, state } = moment.guard;
  const measuredAt = reading.at;
  const verdict = guard(pods ? { workload, want, measuredAt, pods } : { workload, want, measuredAt }, {
    limits,
    state,
    have,
    nodes,
    now,
  });
  const notes = verdict.changed.map(({ dimension, why }) => `${why}: ${dimension}`);
  if (verdict.refused) notes.push(verdict.refused);
  return { verdict, notes, less: NOTHING_LESS };
}

/** Pods that have not got the size yet, because the fallback let them wait; the size is meant for all of them. */
function laggards(want: Allocation, { reading, have, guard: { state } }: Moment): readonly string[] | undefined {
  if (want.cpu !== have.cpu || want.memory !== have.memory) return undefined;
  // A reading from before the last resize would call every pod a laggard.
  if (Math.max(state.changedAt.cpu ?? 0, state.changedAt.memory ?? 0) >= reading.at) return undefined;
  const late = reading.pods.filter(({ cpuLimit, memoryLimit }) => cpuLimit !== want.cpu || memoryLimit !== want.memory);
  return late.length === 0 ? undefined : late.map(({ pod }) => pod);
}

export const isTrip = ({ refused, changed }: Verdict, rules: readonly GuardRule[]): boolean =>
  refused === "not-finite" || changed.some(({ why }) => rules.includes(why));

/** How a wish that was not followed would have fared. */
export interface ShadowStep {
  readonly isTrip: boolean;
  /** It would have given less while the SLO was being missed. */
  readonly isRisky: boolean;
  /** From what was done, in action coordinates. */
  readonly distance: number;
}

export function shadowStep(
  moment: Moment,
  action: Float32Array,
  {
    done,
    observation: { measures, demand },
    rules,
  }: { readonly done: Allocation; readonly observation: Observation; readonly rules: readonly GuardRule[] },
): ShadowStep {
  const { task, have } = moment;
  const want = decodeAction(task, action, demand);
  const shrinks = want.replicas * want.cpu < have.replicas * have.cpu || want.memory < have.memory;
  return {
    isTrip: isTrip(guarded(moment, { want }).verdict, rules),
    isRisky: measures.preservation < 1 && shrinks,
    distance: distance(action, encodeAction(task, done, demand)),
  };
}

/** Root of the mean square over the coordinates. */
function distance(one: Float32Array, other: Float32Array): number {
  const squares = one.reduce((sum, value, i) => sum + (value - (other[i] ?? 0)) ** 2, 0);
  return Math.sqrt(squares / one.length);
}
