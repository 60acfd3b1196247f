/**
 * What all estimates from the same record share: features, weights, and sums over blocks of episodes.
 * Owns: everything that has to read single steps, once; after that a fit only adds up blocks.
 * Not here: fits and intervals (fitted-q.ts, estimate.ts).
 */

import type { Rng } from "../../../base/index.ts";
import type { OffPolicyConfig } from "./config.ts";
import type { Behaviour } from "./doubly-robust.ts";
import { fitBehaviour, importanceWeights } from "./doubly-robust.ts";
import type { BlockSums, Features } from "./fitted-q.ts";
import { blockSums } from "./fitted-q.ts";
import { fourierFeatures } from "./fourier-features.ts";
import { dot } from "./ridge.ts";
import type { StepTable } from "./step-table.ts";

export interface Evidence {
  readonly config: OffPolicyConfig;
  readonly features: Features;
  readonly blocks: readonly Block[];
  readonly behaviour: Behaviour;
  /** The importance of every row. */
  readonly weights: Float64Array;
  /** The mean reward, which is taken off before anything is fitted. */
  readonly centre: number;
  /** The bounds of any return: the horizon's worth of the least and of the most reward seen. */
  readonly least: number;
  readonly most: number;
  /** The value of each episode's first state, by a fit with the whole horizon to go. */
  valuesOf(last: Float64Array): Float64Array;
}

/** Neighbouring episodes that are left out together. */
export interface Block {
  readonly sums: BlockSums;
  readonly episodes: number;
  /** What they earned, summed. */
  readonly earned: number;
  /** The features of what the policy would do in their first states, summed. */
  readonly starts: Float64Array;
  /** Σ w and Σ w·(r − centre) over their steps within the horizon. */
  readonly weight: number;
  readonly rewards: number;
  /**
   * [horizon + 1, size]: times the weights of a fit it is Σ w·(V_{h−1}(s′) − Q_h(s, a)). That is linear in the weights,
   * and steps of one block with equally many to go share them.
   */
  readonly errors: Float64Array;
}

/** More blocks than this say nothing more about the spread, and each costs two matrices. */
const MOST_BLOCKS = 50;

export function gather(table: StepTable, config: OffPolicyConfig, rng: Rng): Evidence {
  const { seen, actions, starts, rewards, rows } = table;
  const map = fourierFeatures({ seen, actions, count: config.features, rng: rng.fork("features") });
  const features: Features = {
    size: map.size,
    done: map.of(table.before, table.done),
    wouldDo: map.of(table.before, table.wouldDo),
    wouldDoNext: map.of(table.after, table.wouldDoNext),
  };
  const states = fourierFeatures({ seen, actions: 0, count: config.features, rng: rng.fork("state features") });
  const ofStates = { features: states.of(table.before, new Float64Array(0)), size: states.size };
  const behaviour = fitBehaviour(table, ofStates, config);
  const weights = importanceWeights(table, behaviour, { ...config, clip: config.weightClip });
  const centre = rewards.reduce((sum, r) => sum + r, 0) / rows;
  const episodes = starts.length - 1;
  const count = Math.min(episodes, MOST_BLOCKS);
  const blockOf = blockMaker(table, { config, features, weights, centre });
  const blocks = Array.from({ length: count }, (_, b) =>
    blockOf(Math.floor((b * episodes) / count), Math.floor(((b + 1) * episodes) / count)),
  );
  const valuesOf = (last: Float64Array) =>
    Float64Array.from({ length: episodes }, (_, e) => {
      const value = dot(features.wouldDo, last, { at: starts[e]! * map.size, size: map.size });
      return config.horizon * centre + value;
    });
  const least = config.horizon * rewards.reduce((a, r) => Math.min(a, r), Number.POSITIVE_INFINITY);
  const most = config.horizon * rewards.reduce((a, r) => Math.max(a, r), Number.NEGATIVE_INFINITY);
  return { config, features, blocks, behaviour, weights, centre, least, most, valuesOf };
}

/** Makes the block of the episodes from the first up to the last. */
function blockMaker(
  table: StepTable,
  { config, features, weights, centre }: Pick<Evidence, "config" | "features" | "weights" | "centre">,
): (first: number, last: number) => Block {
  const { horizon } = config;
  const { size, done, wouldDo, wouldDoNext } = features;
  const { starts, rewards, goesOn } = table;
  return (first, last) => {
    const sums = blockSums(table, features, { from: starts[first]!, to: starts[last]!, centre });
    const startsSum = new Float64Array(size);
    const errors = new Float64Array((horizon + 1) * size);
    let [earned, weight, rewardsSum] = [0, 0, 0];
    for (let e = first; e < last; e++) {
      const from = starts[e]!;
      const to = Math.min(starts[e + 1]!, from + horizon);
      earned += returnOf(table, e, horizon);
      for (let i = 0; i < size; i++) startsSum[i]! += wouldDo[from * size + i]!;
      for (let row = from; row < to; row++) {
        const w = weights[row]!;
        weight += w;
        rewardsSum += w * (rewards[row]! - centre);
        const at = row * size;
        const now = (horizon - (row - from)) * size;
        const then = now - size;
        for (let i = 0; i < size; i++) errors[now + i]! -= w * done[at + i]!;
        if (goesOn[row] === 1) for (let i = 0; i < size; i++) errors[then + i]! += w * wouldDoNext[at + i]!;
      }
    }
    return { sums, episodes: last - first, earned, starts: startsSum, weight, rewards: rewardsSum, errors };
  };
}

/** The rewards of an episode's first `horizon` steps; one that was cut short is taken to go on as it was. */
function returnOf({ starts, rewards, goesOn }: StepTable, episode: number, horizon: number): number {
  const [from, end] = [starts[episode]!, starts[episode + 1]!];
  const to = Math.min(end, from + horizon);
  let sum = 0;
  for (let row = from; row < to; row++) sum += rewards[row]!;
  return goesOn[to - 1] === 1 ? (sum * horizon) / (to - from) : sum;
}
