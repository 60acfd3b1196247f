/**
 * How many pods there are to be, and for how long at least.
 * Owns: patience before fewer pods are tried. Pure. Not here: which count is cheapest (sizing.ts).
 */
import type { Ms } from "../../../../base/index.ts";
import { noCaution, worthOfMiss } from "./caution.ts";
import type { Points } from "./points.ts";
import { bestCount } from "./sizing.ts";

/** Plain data: it is saved. */
export interface PodsKept {
  readonly count: number;
  /** No fewer before this: so long after the last change. */
  readonly until: Ms;
  readonly stay: number;
  readonly fellAt: Ms | null;
  /** The minute in which it was last thought about. */
  readonly at: number | null;
}

/**
 * Fewer pods only after half an hour: a burst that was just served may well come again. Where fewer were soon too few it takes
 * twice as long until that is tried again, up to a day.
 */
const STAY = { first: 1_800_000, most: 86_400_000 } as const;
const MINUTE = 60_000;

interface Range {
  readonly min: number;
  readonly max: number;
}

interface PodsAsked {
  readonly now: Ms;
  /** Requests per second, and millicore-seconds of each. */
  readonly need: { readonly load: number; readonly work: number };
  readonly pods: Range;
  readonly cpu: Range;
}

export const podsAtFirst = (count: number, now: Ms): PodsKept => ({
  count,
  stay: STAY.first,
  until: now,
  fellAt: null,
  at: null,
});

/** More pods than the model asks for, which stay as long as any that were just added. */
export const podsOfAtLeast = (before: PodsKept, count: number, now: Ms): PodsKept =>
  count <= before.count ? before : { ...before, count, until: (now + before.stay) as Ms, fellAt: null };

/** No fewer before then. */
export const keptUntil = (before: PodsKept, until: Ms): PodsKept =>
  until <= before.until ? before : { ...before, until };

export function podsFor(points: Points, before: PodsKept, { now, need, pods, cpu }: PodsAsked): PodsKept {
  const minute = Math.floor(now / MINUTE);
  if (before.at === minute) return before;
  // Whatever was missed lately: a pod that is not needed is no insurance, unlike CPU that is not.
  const worth = worthOfMiss(noCaution);
  const count = bestCount(points, before.count, {
    need: { load: need.load, work: need.work, worth },
    bounds: cpu,
    pods,
  });
  if (count === before.count || (count < before.count && now < before.until)) return { ...before, at: minute };
  const isBack = count > before.count && before.fellAt !== null && now < before.fellAt + STAY.first;
  const stay = isBack ? Math.min(2 * before.stay, STAY.most) : before.stay;
  return { count, stay, until: (now + stay) as Ms, fellAt: count < before.count ? now : null, at: minute };
}
