/**
 * Compaction: which episodes a store may let go of when it holds too much.
 * The best and the worst are kept (the meta learner asks for both ends), then the oldest finished ones go first.
 * Episodes that still run or wait for rewards are never touched.
 */

import type { EpisodeId } from "../../base/index.ts";
import type { EpisodeSummary, TrajectoryStore } from "./store.ts";
import { MAX_ANSWER } from "./store.ts";

export interface Retention {
  /** The store is brought to at most this many records, as far as the kept episodes allow. */
  readonly maxRecords: number;
  readonly keepTop: number;
  readonly keepBottom: number;
}

/** Episodes to forget, in the order given (oldest first), until `surplus` records or just more are gone. */
export function chooseForgotten(
  oldest: readonly EpisodeSummary[],
  { surplus, kept }: { surplus: number; kept: ReadonlySet<EpisodeId> },
): EpisodeId[] {
  const forgotten: EpisodeId[] = [];
  let left = surplus;
  for (const { episode, steps } of oldest) {
    if (left <= 0) break;
    if (kept.has(episode)) continue;
    forgotten.push(episode);
    left -= steps;
  }
  return forgotten;
}

/** Returns how many records went. */
export async function compact(store: TrajectoryStore, retention: Retention): Promise<number> {
  const { records, episodes } = await store.counts();
  const surplus = records - retention.maxRecords;
  if (surplus <= 0) return 0;
  const top = await store.topEpisodes({ count: retention.keepTop });
  const bottom = await store.bottomEpisodes({ count: retention.keepBottom });
  const kept = new Set([...top, ...bottom].map((summary) => summary.episode));
  const oldest = await store.oldestEpisodes({ count: Math.min(episodes, surplus + kept.size, MAX_ANSWER) });
  return store.forget(chooseForgotten(oldest, { surplus, kept }));
}
