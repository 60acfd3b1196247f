/**
 * Minutes in which more requests came at once than usual: how much CPU they would have needed, and how often that is.
 * Owns: the upper tail of strain. Pure. Not here: the usual minute (knees.ts, points.ts).
 *
 * In most minutes strain does not depend on CPU that is left over; in the few in which requests came at once they wait for it.
 * So a miss is not noise around what is usual, which no CPU would lower: it is a minute whose own knee (knees.ts) was higher.
 * From the strain of a minute follows where its knee was, and of these knees the upper tail is kept: the level that one in
 * twenty exceeds, and by how much these do in the mean. Beyond a high level the excess of almost any distribution falls off
 * exponentially ("peaks over threshold"). So every twentieth minute tells how likely misses are, long before there are some.
 */

/** Plain data: it is saved. Logarithms of millicores that are free in a pod, for each millicore-second of a request. */
export interface Bursts {
  /** What one in twenty exceeds; null before anything was seen. */
  readonly level: number | null;
  /** By how much these do in the mean. */
  readonly excess: number;
  /** How many did. */
  readonly seen: number;
}

/** Before anything was seen: about a seventh more, as if twenty had been. */
const START = { excess: 0.15, seen: 20 } as const;
export const noBursts: Bursts = Object.freeze({ level: null, excess: START.excess, seen: START.seen });

/** One that is more than this many mean excesses off was something else. */
const OUTLIER = 3;
const SHARE = 0.05;
const MOST = 0.5;
/** How far the level moves after one that exceeds it, in mean excesses: back again in five minutes for each. */
const LEVEL_STEP = 0.1;
/** Half a day of steps of 15 s, one in twenty of them: older ones are forgotten bit by bit. */
const REMEMBERED = 150;
const EXCESS = { least: 0.03, most: 0.5 } as const;

/** A minute's knee, and from where on it can be told from noise: with CPU to spare only great bursts are seen. */
export interface SeenKnee {
  readonly knee: number;
  readonly from: number;
}

/** Bursts that were too small to be seen say nothing: the level falls only as far as some should have been seen and were not. */
export function burstsAfter(bursts: Bursts, { knee, from }: SeenKnee): Bursts {
  if (bursts.level === null) return { ...bursts, level: from };
  const { level, excess } = bursts;
  const expected = chanceBeyond(bursts, Math.max(from, level));
  const beyond = knee - Math.max(from, level);
  const isBeyond = beyond > 0;
  const moved = level + LEVEL_STEP * excess * ((isBeyond ? 1 : 0) - expected);
  if (!isBeyond) return { ...bursts, level: moved };
  const seen = Math.min(bursts.seen + 1, REMEMBERED);
  const next = excess + (Math.min(beyond, OUTLIER * excess) - excess) / seen;
  return { level: moved, seen, excess: Math.min(Math.max(next, EXCESS.least), EXCESS.most) };
}

/** The chance that a minute's knee is beyond this one. Where that is often, it is no burst: the usual knees say what follows. */
export function chanceBeyond({ level, excess }: Bursts, knee: number): number {
  return level === null ? 0 : Math.min(SHARE * Math.exp((level - knee) / excess), MOST);
}
