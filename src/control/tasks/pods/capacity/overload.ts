/**
 * What to do where requests pile up and the model did not expect it: it knows no cure, because it knows too little.
 * Owns: growing without its consent, for a while. Pure. Not here: the plan (planner.ts).
 *
 * Where requests fail they are repeated and use CPU for nobody, so nothing is learned from such minutes, and a model from before a
 * release would go on expecting that all is well. So where a minute is missed by far and the model expects it to be kept, its
 * word does not count: CPU grows by half every minute, pods double every three, for twenty minutes. What is there then is no
 * cure either; an hour later it is tried again.
 *
 * Once minutes are kept the model learns from them, and until it has, little is taken away (cure.ts): clients that no longer ask
 * twice look like half of the load, and a model that does not know the new software yet would make pods too small again at once.
 *
 * Where there is no model at all, because the first requests came while the rules failed, the same is done without one.
 */
import type { Ms } from "../../../../base/index.ts";
import { MOST_STRAIN } from "./strain.ts";

/** Plain data: it is saved. */
export interface Overload {
  readonly since: Ms;
  /** When pods last grew for it. */
  readonly grownAt: Ms;
  /** When a minute was last seen to be missed. */
  readonly missedAt: Ms;
}

/** So much less strain than there is was expected: two thirds of the latency. */
const UNEXPECTED = 0.4;
const MINUTE = 60_000;
const PATIENCE = 20 * MINUTE;
const AGAIN_AFTER = 80 * MINUTE;
const PODS_EVERY = 3 * MINUTE;
/** Missed by so much: a tenth over. What is missed by less is not for want of half as much again. */
const BY_FAR = 0.1;
/** Longer than what failed in a moment is seen in the percentile of its minute. */
const MOMENT = 2 * MINUTE;
/** Whoever acted has not cured it by then: rules that grow at their own pace mostly have. */
const UNCURED = 5 * MINUTE;
/** Minutes that are kept before what cured it may be taken away: a few for the model to learn from. */
const CALM = 10 * MINUTE;

interface Seen {
  readonly now: Ms;
  /** null where nothing was asked, or nobody measured. */
  readonly strain: number | null;
  readonly expected: number;
}

export function overloadAfter(before: Overload | null, { now, strain, expected }: Seen): Overload | null {
  const isMissed = strain !== null && strain > BY_FAR;
  // A clock that went back.
  if (before !== null && now < before.since) return null;
  if (before === null) {
    const isUnexpected = isMissed && strain >= MOST_STRAIN && expected < strain - UNEXPECTED;
    return isUnexpected ? { since: now, grownAt: now, missedAt: now } : null;
  }
  // It was cured in between: this is another one.
  if (isMissed && now - before.missedAt > MOMENT) return { since: now, grownAt: now, missedAt: now };
  if (isMissed) return now - before.since > AGAIN_AFTER ? null : { ...before, missedAt: now };
  return now - before.missedAt > CALM ? null : before;
}

/** Whether it grows without the model's consent now. */
export const isGrowing = (overload: Overload | null, now: Ms): overload is Overload =>
  overload !== null && overload.missedAt === now && now - overload.since <= PATIENCE;

/** Whether it has grown for so long that more is no cure. */
export const isHopeless = (overload: Overload | null): boolean =>
  overload !== null && overload.missedAt - overload.since > PATIENCE;

/** Whether it is more than a moment in which something failed. */
export const isLasting = (overload: Overload | null): boolean =>
  overload !== null && overload.missedAt - overload.since >= MOMENT;

/** Whether those who acted have not cured it. */
export const isUncured = (overload: Overload | null): boolean =>
  overload !== null && overload.missedAt - overload.since >= UNCURED && !isHopeless(overload);

/** Whether pods are due to double. */
export const arePodsDue = ({ grownAt }: Overload, now: Ms): boolean => now - grownAt >= PODS_EVERY;
