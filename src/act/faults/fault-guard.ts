/**
 * The check that every injection passes before it reaches a world, as every action passes the guard of `act`.
 * Owns: numbers that are numbers, known and unprotected targets, an end within the limit, intensity within the limit,
 * blast radius, cool-down of a target, and a budget within a window; what was changed and why; the memory this needs.
 * Not here: doing it.
 *
 * Like there: a wish is clamped where less of it is still what was meant, and refused where it is not.
 */
import type { Ms } from "../../base/index.ts";
import { minutes, seconds } from "../../base/index.ts";
import type { DisruptionBudget } from "../index.ts";
import { endOf, type Injection, kindFits, targetName } from "./injection.ts";

export interface FaultLimits {
  readonly maxIntensity: number;
  readonly maxDuration: Ms;
  /** Blast radius: injections that may be in force at the same moment. */
  readonly maxActive: number;
  /** A target is left alone for this long after an injection into it has ended. */
  readonly cooldown: Ms;
  /** Injections that may begin within a window; `members` counts one each, as in the guard of actions. */
  readonly budget: DisruptionBudget;
  /** Names of targets that nobody may touch, as `targetName` writes them. */
  readonly protectedTargets: readonly string[];
}

export const faultLimits: FaultLimits = {
  maxIntensity: 1,
  maxDuration: minutes(10),
  maxActive: 24,
  cooldown: seconds(0),
  budget: { members: 500, window: minutes(10) },
  protectedTargets: [],
};

export type FaultRefusal =
  | "not-finite"
  | "already-over"
  | "wrong-target"
  | "unknown-target"
  | "protected-target"
  | "blast-radius"
  | "cool-down"
  | "budget"
  | "duplicate";

export interface FaultChange {
  readonly field: "intensity" | "duration" | "start";
  readonly from: number;
  readonly to: number;
}

export interface FaultState {
  /** Admitted and not long over. */
  readonly admitted: readonly Injection[];
}

export const freshFaultState: FaultState = Object.freeze({ admitted: [] });

export interface FaultContext {
  readonly limits: FaultLimits;
  readonly state: FaultState;
  readonly now: Ms;
  /** Whether the world has such a target. */
  readonly knows: (injection: Injection) => boolean;
}

export interface FaultVerdict {
  /** What may be done; not there when it was refused. */
  readonly injection?: Injection;
  readonly changed: readonly FaultChange[];
  readonly refused?: FaultRefusal;
  readonly state: FaultState;
}

/** Judged in the order in which they begin; one that is to begin earlier than now begins now. */
export function guardInjection(wish: Injection, context: FaultContext): FaultVerdict {
  const { limits, now } = context;
  const state = withoutOld(context);
  const refused = refusalOf(wish, { ...context, state });
  if (refused !== undefined) return { changed: [], refused, state };
  const changed: FaultChange[] = [];
  const keep = (field: FaultChange["field"], from: number, to: number): number => {
    if (from !== to) changed.push({ field, from, to });
    return to;
  };
  const start = keep("start", wish.start, Math.max(wish.start, now)) as Ms;
  // What was missed of it is not made up for: it ends when it was to end.
  const left = endOf(wish) - start;
  const duration = keep("duration", wish.duration, Math.min(left, limits.maxDuration)) as Ms;
  const intensity = keep("intensity", wish.intensity, Math.min(Math.max(wish.intensity, 0), limits.maxIntensity));
  const injection: Injection = { ...wish, start, duration, intensity };
  return { injection, changed, state: { admitted: [...state.admitted, injection] } };
}

/**
 * Calls an injection off: as it is then, over by now, to be put in its place in the world. Undefined where none of that id
 * is in force or still to come.
 */
export function stopInjection(
  id: string,
  { state, now }: Pick<FaultContext, "state" | "now">,
): { readonly injection: Injection; readonly state: FaultState } | undefined {
  const running = state.admitted.find((one) => one.id === id && endOf(one) > now);
  if (running === undefined) return undefined;
  const injection: Injection = { ...running, duration: Math.max(0, now - running.start) as Ms };
  return { injection, state: { admitted: state.admitted.map((one) => (one === running ? injection : one)) } };
}

function refusalOf(wish: Injection, { limits, state, now, knows }: FaultContext): FaultRefusal | undefined {
  if (![wish.start, wish.duration, wish.intensity, now].every(Number.isFinite)) return "not-finite";
  if (!(wish.duration > 0) || endOf(wish) <= now) return "already-over";
  if (!kindFits(wish.kind, wish.target)) return "wrong-target";
  if (!knows(wish)) return "unknown-target";
  const name = targetName(wish.target);
  if (limits.protectedTargets.includes(name)) return "protected-target";
  if (state.admitted.some(({ id }) => id === wish.id)) return "duplicate";
  const begins = Math.max(wish.start, now);
  const ends = Math.min(endOf(wish), begins + limits.maxDuration);
  if (mostAtOnce(state.admitted, begins, ends) >= limits.maxActive) return "blast-radius";
  const waits = state.admitted.some(
    (other) =>
      limits.cooldown > 0 &&
      targetName(other.target) === name &&
      begins < endOf(other) + limits.cooldown &&
      ends > other.start - limits.cooldown,
  );
  if (waits) return "cool-down";
  const { members, window } = limits.budget;
  const begun = state.admitted.filter(({ start }) => Math.abs(begins - start) < window).length;
  return begun >= members ? "budget" : undefined;
}

/** Of those already admitted, the most that are in force together at any moment of a span. */
function mostAtOnce(admitted: readonly Injection[], begins: number, ends: number): number {
  const during = admitted.filter((other) => other.start < ends && endOf(other) > begins);
  const moments = [begins, ...during.map(({ start }) => start).filter((start) => start > begins)];
  return Math.max(0, ...moments.map((at) => during.filter((o) => o.start <= at && endOf(o) > at).length));
}

function withoutOld({ state, limits, now }: FaultContext): FaultState {
  const oldest = now - Math.max(limits.budget.window, limits.cooldown);
  const admitted = state.admitted.filter((injection) => endOf(injection) > oldest);
  return admitted.length === state.admitted.length ? state : { admitted };
}
