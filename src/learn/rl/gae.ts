/**
 * Generalised advantage estimation (arXiv:1506.02438), over rows in the order they were observed.
 * Rows of several streams (parallel environments, agents) may be interleaved in any way: each stream carries its own
 * sum, so nobody has to arrive in lockstep.
 */

import { END_CODE } from "../env/index.ts";

export interface AdvantageInput {
  readonly count: number;
  readonly rewards: ArrayLike<number>;
  /** V of each row's observation. */
  readonly values: ArrayLike<number>;
  /** V of the observation that followed each row: at an end the episode's last one, never the next episode's first. */
  readonly nextValues: ArrayLike<number>;
  /** As in `END_CODE`. */
  readonly ends: ArrayLike<number>;
  /** Which stream each row belongs to, from 0. */
  readonly streams: ArrayLike<number>;
  readonly streamCount: number;
  readonly gamma: number;
  readonly lambda: number;
}

export interface AdvantageOutput {
  readonly advantages: Float32Array;
  /** Targets for the value function: advantage plus value, TD(λ) returns. */
  readonly returns: Float32Array;
}

/**
 * δ = r + γ·V(next) − V, without the future where the episode terminated; A = δ + γλ·A(next row of the stream), where
 * the sum stops at either kind of end. A truncated episode keeps its future: the clock stopped it, not the task.
 */
export function estimateAdvantages(input: AdvantageInput, { advantages, returns }: AdvantageOutput): void {
  const { rewards, values, nextValues, ends, streams, gamma, lambda } = input;
  const carried = new Float64Array(input.streamCount);
  for (let row = input.count - 1; row >= 0; row--) {
    const end = ends[row]!;
    const stream = streams[row]!;
    const future = end === END_CODE.terminated ? 0 : gamma * nextValues[row]!;
    const delta = rewards[row]! + future - values[row]!;
    const advantage = delta + (end === END_CODE.no ? gamma * lambda * carried[stream]! : 0);
    carried[stream] = advantage;
    advantages[row] = advantage;
    returns[row] = advantage + values[row]!;
  }
}
