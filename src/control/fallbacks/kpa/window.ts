/**
 * Averages over a sliding window of one-second buckets, and the highest count of a sliding window.
 * Owns: late, missing and repeated values, exactly as Knative treats them.
 * Not here: what is averaged (kpa.ts).
 */
import type { Ms } from "../../../base/index.ts";

export interface BucketWindow {
  /** Whole seconds; the window's buckets as a ring. */
  readonly buckets: readonly number[];
  readonly total: number;
  /** Seconds since the epoch of the first and the last value; null before the first. */
  readonly first: number | null;
  readonly last: number | null;
}

export const emptyWindow = (seconds: number): BucketWindow => ({
  buckets: new Array<number>(seconds).fill(0),
  total: 0,
  first: null,
  last: null,
});

const secondOf = (at: Ms): number => Math.floor(at / 1000);

export function isWindowEmpty({ last, buckets }: BucketWindow, now: Ms): boolean {
  return last === null || secondOf(now) - last > buckets.length;
}

export function recordValue(window: BucketWindow, at: Ms, value: number): BucketWindow {
  const second = secondOf(at);
  const size = window.buckets.length;
  const { last } = window;
  if (last !== null && second !== last && second + size <= last) return window; // a window too late
  let first = window.first === null || window.first > second ? second : window.first;
  let buckets = [...window.buckets];
  let total = window.total;
  if (last === null || second - last >= size) {
    // Nothing came for a whole window: what is averaged begins anew.
    first = second;
    buckets = new Array<number>(size).fill(0);
    total = 0;
  } else {
    // Seconds without a value in between count as zero.
    for (let gap = last + 1; gap <= second; gap += 1) {
      total -= buckets[gap % size] ?? 0;
      buckets[gap % size] = 0;
    }
  }
  buckets[second % size] = (buckets[second % size] ?? 0) + value;
  return { buckets, total: total + value, first, last: last === null ? second : Math.max(last, second) };
}

/** Over the seconds since the first value, at most the window; the seconds since the last value are left out. */
export function windowAverage({ buckets, total, first, last }: BucketWindow, now: Ms): number {
  if (first === null || last === null) return 0;
  const size = buckets.length;
  const second = secondOf(now);
  const silent = second - last;
  if (silent >= size) return 0;
  let sum = total;
  for (let gap = last + 1; gap <= second; gap += 1) sum -= buckets[gap % size] ?? 0;
  const counted = Math.min(last - first + 1, silent <= 0 ? size : size - silent);
  // Six digits, so that sums and differences of the same values cancel.
  return Math.round((sum / counted) * 1e6) / 1e6;
}

export interface RecordedCount {
  readonly tick: number;
  readonly count: number;
}

/** Keeps only counts that can still be the highest of the window: falling counts, rising ticks. */
export function recordCount(
  recorded: readonly RecordedCount[],
  { tick, count }: RecordedCount,
  ticks: number,
): readonly RecordedCount[] {
  const kept = recorded.filter((entry) => entry.count > count && tick - entry.tick < ticks);
  // Two decisions in one tick: the higher one stays.
  return kept.at(-1)?.tick === tick ? kept : [...kept, { tick, count }];
}
