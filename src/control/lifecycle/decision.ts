/**
 * From wishes to one guarded plan: the fallback's, or the learner's within canary band and shield.
 * Owns: the order band, shield, guard; how a wish that is not followed would have fared. Pure.
 * Not here: whose turn it is (health.ts), the shield's rules (the task's), what comes of the plan (agent.ts).
 */
import type { GuardLimits, GuardState, NodeRoom, Proposal, Setting, Verdict } from "../../act/index.ts";
import { guard } from "../../act/index.ts";
import type { Ms, Reason, WorkloadId } from "../../base/index.ts";
import type { Experience, FallbackWish, Seen, Shortfall, Task, TaskReading } from "../index.ts";
import type { Band } from "./band.ts";
import { keepWithinBand } from "./band.ts";
import { WHOLE_BAND } from "./lifecycle.ts";

/** What is known when a decision is made. */
export interface Moment<R extends TaskReading, S extends Setting, O extends Seen> {
  readonly workload: WorkloadId;
  readonly task: Task<R, S, O>;
  readonly reading: R;
  readonly have: S;
  readonly fallback: FallbackWish<S>;
  /** What there would be if the fallback had been alone. */
  readonly alone: S;
  readonly guard: { readonly limits: GuardLimits; readonly state: GuardState };
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly now: Ms;
}

const NOTHING_LESS: Shortfall = { felt: false, latent: false };

export interface Plan<S extends Setting> {
  readonly verdict: Verdict<S>;
  /** What band, shield and guard changed. */
  readonly notes: readonly Reason[];
  /** What it gives less of than the fallback would. */
  readonly less: Shortfall;
}

export function planFallback<R extends TaskReading, S extends Setting, O extends Seen>(
  moment: Moment<R, S, O>,
): Plan<S> {
  return guarded(moment, moment.fallback);
}

/**
 * The fallback's wish right after the learner: for every member, not only for those that its own rules would touch. They
 * leave members alone that somebody else has sized, down to a lone one that is killed over and over.
 */
export function planTakeover<R extends TaskReading, S extends Setting, O extends Seen>(
  moment: Moment<R, S, O>,
): Plan<S> {
  const { alone: want } = moment;
  return guarded(moment, wishOf(want, laggardsOf(want, moment)));
}

export interface LearnersWish<O> {
  readonly action: Float32Array;
  readonly observation: O;
  readonly band: Band;
  readonly experience: Experience;
}

export function planLearner<R extends TaskReading, S extends Setting, O extends Seen>(
  moment: Moment<R, S, O>,
  { action, observation, band, experience }: LearnersWish<O>,
): Plan<S> {
  const { task, have, reading, alone } = moment;
  const chosen = action.slice();
  const isCanary = Math.min(band.below, band.above) < WHOLE_BAND;
  if (isCanary) keepWithinBand(chosen, task.encodeSetting(alone, observation), band);
  const safe = task.shield
    ? task.shield.shape({ action: chosen, seen: observation, reading, have, fallback: alone, experience })
    : { setting: task.decode(chosen, observation), changed: [] };
  const { verdict, notes } = guarded(moment, wishOf(safe.setting, laggardsOf(safe.setting, moment)));
  const less = task.shortfall
    ? task.shortfall(verdict.setting, alone)
    : { felt: task.givesLess(verdict.setting, alone), latent: false };
  return { verdict, notes: [...(isCanary ? [CANARY] : []), ...safe.changed, ...notes], less };
}

const CANARY: Reason = Object.freeze({ by: "canary", rule: "band" });

const wishOf = <S extends Setting>(want: S, followers: readonly string[] | undefined): FallbackWish<S> =>
  followers ? { want, followers } : { want };

function laggardsOf<R extends TaskReading, S extends Setting, O extends Seen>(
  want: S,
  { task, reading, have, guard: { state } }: Moment<R, S, O>,
): readonly string[] | undefined {
  return task.laggards?.(want, { reading, have, changedAt: state.changedAt });
}

function guarded<R extends TaskReading, S extends Setting, O extends Seen>(
  moment: Moment<R, S, O>,
  { want, followers }: FallbackWish<S>,
): Plan<S> {
  const { workload, reading, have, nodes, now } = moment;
  const { limits, state } = moment.guard;
  const measuredAt = reading.at;
  const proposal: Proposal<S> = followers ? { workload, want, measuredAt, followers } : { workload, want, measuredAt };
  const verdict = guard(proposal, { limits, state, have, nodes, now });
  const notes: Reason[] = verdict.changed.map(({ knob, rule }) => ({ by: "guard", rule, knob }));
  if (verdict.refused) notes.push({ by: "guard", rule: verdict.refused });
  return { verdict, notes, less: NOTHING_LESS };
}

export const isTrip = ({ refused, changed }: Pick<Verdict, "refused" | "changed">, rules: readonly string[]): boolean =>
  refused === "not-finite" || changed.some(({ rule }) => rules.includes(rule));

/** How a wish that was not followed would have fared. */
export interface ShadowStep {
  readonly isTrip: boolean;
  /** It would have given less while the objective was being missed. */
  readonly isRisky: boolean;
  /** From what was done, in action coordinates. */
  readonly distance: number;
}

interface Followed<S, O> {
  readonly done: S;
  readonly observation: O;
  readonly rules: readonly string[];
}

export function shadowStep<R extends TaskReading, S extends Setting, O extends Seen>(
  moment: Moment<R, S, O>,
  action: Float32Array,
  { done, observation, rules }: Followed<S, O>,
): ShadowStep {
  const { task, have } = moment;
  const want = task.decode(action, observation);
  return {
    isTrip: isTrip(guarded(moment, { want }).verdict, rules),
    isRisky: task.isMissed(observation) && task.givesLess(want, have),
    distance: distance(action, task.encodeSetting(done, observation)),
  };
}

/** Root of the mean square over the coordinates. */
function distance(one: Float32Array, other: Float32Array): number {
  const squares = one.reduce((sum, value, i) => sum + (value - (other[i] ?? 0)) ** 2, 0);
  return Math.sqrt(squares / one.length);
}
