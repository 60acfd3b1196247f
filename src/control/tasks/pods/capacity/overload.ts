/**
 * What to do where requests pile up and the model did not expect it: it knows no cure, because it knows too little.
 * Owns: growing without its consent, for a while. Pure. Not here: the plan (planner.ts).
 *
 * Where requests fail they are repeated and use CPU for nobody, so nothing is learned from such minutes, and a model from before a
 * release would go on expecting that all is well. So where a minute is missed by far and the model expects it to be kept, its
 * word does not count: CPU grows by half every minute, pods double every three, for twenty minutes. What is there then is no
 * cure either; an hour later it is tried again. Once minutes are kept the model learns from them and sizes what there is.
 */
import type { Ms } from "../../../../base/index.ts";
import { MOST_STRAIN } from "./strain.ts";

/** Plain data: it is saved. */
export interface Overload {
  readonly since: Ms;
  /** When pods last grew for it. */
  readonly grownAt: Ms;
}

/** So much less strain than there is was expected: two thirds of the latency. */
const UNEXPECTED = 0.4;
const MINUTE = 60_000;
const PATIENCE = 20 * MINUTE;
const AGAIN_AFTER = 80 * MINUTE;
const PODS_EVERY = 3 * MINUTE;

interface Seen {
  readonly now: Ms;
  /** null where nothing was asked, or nobody measured. */
  readonly strain: number | null;
  readonly expected: number;
}

export function overloadAfter(before: Overload | null, { now, strain, expected }: Seen): Overload | null {
  if (strain !== null && strain <= 0) return null;
  const isUnexpected = strain !== null && strain >= MOST_STRAIN && expected < strain - UNEXPECTED;
  if (before === null) return isUnexpected ? { since: now, grownAt: now } : null;
  // A clock that went back.
  if (now < before.since) return null;
  return now - before.since > AGAIN_AFTER ? null : before;
}

/** Whether it grows without the model's consent now. */
export const isGrowing = (overload: Overload | null, now: Ms): overload is Overload =>
  overload !== null && now - overload.since <= PATIENCE;

/** Whether pods are due to double. */
export const arePodsDue = ({ grownAt }: Overload, now: Ms): boolean => now - grownAt >= PODS_EVERY;
