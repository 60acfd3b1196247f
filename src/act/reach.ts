/**
 * What each knob may be set to now: the ranges that the guard's rules for single knobs leave.
 * Owns: telling them beforehand, so that a policy's actions can be mapped onto what will be done. Not here: keeping them
 * (guard.ts), constraints between knobs, which know more than one value.
 */
import type { Ms } from "../base/index.ts";
import type { GuardLimits, GuardState } from "./guard.ts";
import type { Knob, Setting } from "./knob.ts";

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** By knob. What is there lies in it, except where it is out of bounds. */
export type Reach = Readonly<Record<string, Range>>;

export interface ReachContext {
  readonly limits: Pick<GuardLimits, "knobs">;
  readonly state: Pick<GuardState, "changedAt">;
  /** What is there, just read. */
  readonly have: Setting;
  readonly now: Ms;
}

export function reachOf({ limits, state, have, now }: ReachContext): Reach {
  const reach: Record<string, Range> = {};
  for (const knob of limits.knobs) {
    const last = state.changedAt[knob.name];
    // A clock that went back: what seems to lie ahead counts as just done, as in the guard.
    const since = last === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now - last);
    reach[knob.name] = rangeOf(knob, have[knob.name] as number, since);
  }
  return reach;
}

/** The guard leaves of ever larger wishes ever larger values, so the range is what it leaves of the least and of the most. */
function rangeOf({ bounds, grain, step, cooldown }: Knob, current: number, since: number): Range {
  const lowest = up(current - Math.max(step.absolute, step.down * current), grain);
  const highest = down(current + Math.max(step.absolute, step.up * current), grain);
  const least = Math.min(Math.max(bounds.min, lowest), highest);
  const most = Math.min(Math.max(bounds.max, lowest), highest);
  const min = since < cooldown.down ? Math.max(least, current) : least;
  const max = since < cooldown.up ? Math.min(most, current) : most;
  return min <= max ? { min, max } : { min: current, max: current };
}

const up = (value: number, grain: number): number => (grain === 0 ? value : Math.ceil(value / grain) * grain + 0);
const down = (value: number, grain: number): number => (grain === 0 ? value : Math.floor(value / grain) * grain);
