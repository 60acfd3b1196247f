/**
 * What cured an overload: how much CPU in all, held for a while and then given back slowly.
 * Owns: a floor under the plan, and how it falls and rises. Pure. Not here: the overload itself (overload.ts), the plan (planner.ts).
 *
 * In an overload the model learns nothing, so afterwards it knows no better than before what is too little, and its plan may be
 * what led there. So after the last minute that was missed by far nothing is taken away for ten minutes, and then a tenth in four
 * minutes, while the model watches what less of it does. A minute that is missed on the way down was one step too far: some of it
 * comes back, never more than what cured, and the next attempt waits twice as long. It ends where the plan is no less, or where
 * the overload was not cured at all.
 */
import type { Ms } from "../../../../base/index.ts";

/** Plain data: it is saved. */
export interface Cure {
  /** Millicores in all that there are at least. */
  readonly cores: number;
  /** What cured: the floor rises no further. */
  readonly most: number;
  /** Nothing is given back before this. */
  readonly until: Ms;
  /** How long that was. */
  readonly pause: Ms;
  readonly at: Ms;
}

const MINUTE = 60_000;
/** A few for the model to learn from. */
const PAUSE = { first: (10 * MINUTE) as Ms, most: (40 * MINUTE) as Ms } as const;
/** Of the logarithm in a millisecond: a tenth in two minutes. */
const FALLS = Math.log(1 / 0.9) / (2 * MINUTE);
/** After a miss, of what there was. */
const RISES = 1.15;
/** A minute that is missed is seen in several steps: it counts once. */
const APART = 2 * MINUTE;

interface Seen {
  readonly now: Ms;
  /** Millicores in all. */
  readonly have: number;
  /** Whether requests pile up now and it grows for it, and whether it has grown for too long. */
  readonly isGrowing: boolean;
  readonly isHopeless: boolean;
  readonly isMissed: boolean;
}

export function cureAfter(before: Cure | null, { now, have, isGrowing, isHopeless, isMissed }: Seen): Cure | null {
  // A clock that went back, or more was no cure.
  if (isHopeless || (before !== null && now < before.at)) return null;
  if (isGrowing) {
    // What cured before is the first that is tried; if too much had been given back, it is held for longer.
    const isAgain = before !== null && now >= before.until;
    const pause = before === null ? PAUSE.first : isAgain ? longer(before.pause) : before.pause;
    const most = Math.max(have, before?.most ?? 0);
    return { cores: most, most, until: (now + pause) as Ms, pause, at: now };
  }
  if (before === null) return null;
  const { cores, most, until, pause } = before;
  if (isMissed && now >= until - pause + APART) {
    const longest = now >= until ? longer(pause) : pause;
    return { cores: Math.min(RISES * cores, most), most, until: (now + longest) as Ms, pause: longest, at: now };
  }
  const given = now > until ? Math.exp(-FALLS * (now - Math.max(before.at, until))) : 1;
  return { cores: cores * given, most, until, pause, at: now };
}

const longer = (pause: Ms): Ms => Math.min(2 * pause, PAUSE.most) as Ms;

/** Whether the plan by itself is enough by now. */
export const isOver = (
  { until }: Cure,
  { now, planned, cores }: { now: Ms; planned: number; cores: number },
): boolean => now >= until && planned >= cores;
