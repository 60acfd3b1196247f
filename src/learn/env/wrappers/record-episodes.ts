/**
 * Returns and lengths of finished episodes. Put it innermost, before normalisation, to record what the task really paid.
 */

import type { End } from "../contract.ts";
import type { Wrapper } from "../wrapper.ts";

export interface EpisodeSummary {
  readonly row: number;
  /** The plain sum of rewards. */
  readonly return: number;
  readonly length: number;
  readonly end: Exclude<End, "no">;
}

export interface EpisodeRecorder extends Wrapper {
  /** The latest episodes, oldest first, at most `keep`. */
  readonly episodes: readonly EpisodeSummary[];
  /** How many episodes ended since the beginning, kept or not. */
  readonly finished: number;
}

export function recordEpisodes({
  keep = 100,
  onEnd,
}: {
  keep?: number;
  onEnd?: (episode: EpisodeSummary) => void;
} = {}): EpisodeRecorder {
  const episodes: EpisodeSummary[] = [];
  let finished = 0;
  return {
    name: "record-episodes",
    episodes,
    get finished() {
      return finished;
    },
    attach({ count }) {
      const sums = new Float64Array(count);
      const lengths = new Uint32Array(count);
      return {
        begin(row) {
          sums[row] = 0;
          lengths[row] = 0;
        },
        advance(row, { reward, end }) {
          sums[row] = sums[row]! + reward;
          lengths[row] = lengths[row]! + 1;
          if (end === "no") return;
          const episode: EpisodeSummary = { row, return: sums[row]!, length: lengths[row]!, end };
          finished += 1;
          episodes.push(episode);
          if (episodes.length > keep) episodes.shift();
          onEnd?.(episode);
        },
      };
    },
  };
}
