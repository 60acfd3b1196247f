/**
 * One stream of episodes of one environment, for training and for evaluation.
 * Owns: the seed of every episode (a function of the stream's seed and the episode's number, nothing else) and the
 * actions of the running one. Together they make a stream resumable in any deterministic world: reset with the same
 * seed, take the same actions, and the world stands where it stood.
 * Not here: who chooses the actions.
 */

import type { Rng } from "../../base/index.ts";
import type { End, EnvConfig, VectorEnv } from "../env/index.ts";
import { END_CODE, makeVectorEnv } from "../env/index.ts";

const END_NAMES: readonly End[] = ["no", "terminated", "truncated"];

export interface StreamOptions {
  readonly envId: string;
  readonly envConfig?: EnvConfig;
  /** Episode i is reset with a seed forked from this stream by i. */
  readonly seeds: Rng;
}

export class EpisodeStream {
  readonly #env: VectorEnv;
  readonly #seeds: Rng;
  #actions: number[] = [];
  #episode = 0;
  #return = 0;
  #length = 0;
  #end: End = "no";

  constructor({ envId, envConfig, seeds }: StreamOptions) {
    const config = envConfig === undefined ? {} : { config: envConfig };
    // A vector environment of one: its buffers are reused, so a step allocates nothing.
    this.#env = makeVectorEnv(envId, { count: 1, autoreset: "disabled", ...config });
    this.#seeds = seeds;
    this.#begin();
  }

  get observationSpace(): VectorEnv["observationSpace"] {
    return this.#env.observationSpace;
  }

  get actionSpace(): VectorEnv["actionSpace"] {
    return this.#env.actionSpace;
  }

  /** The current observation, in the environment's own buffer: valid until the next call. */
  get obs(): Float32Array {
    return this.#env.obs;
  }

  get reward(): number {
    return this.#env.rewards[0] ?? 0;
  }

  /** How the last step left the episode; after an end, call `next` before stepping on. */
  get end(): End {
    return this.#end;
  }

  /** The number of the running episode, from 0. */
  get episode(): number {
    return this.#episode;
  }

  /** Sum of the running episode's rewards so far. */
  get return(): number {
    return this.#return;
  }

  get length(): number {
    return this.#length;
  }

  step(action: Float32Array): void {
    for (let i = 0; i < action.length; i++) this.#actions.push(action[i]!);
    this.#env.step(action);
    this.#return += this.reward;
    this.#length += 1;
    this.#end = END_NAMES[this.#env.ends[0] ?? END_CODE.no] ?? "no";
  }

  /** Begins the next episode. */
  next(): void {
    this.#episode += 1;
    this.#begin();
  }

  #begin(): void {
    this.#actions = [];
    this.#return = 0;
    this.#length = 0;
    this.#end = "no";
    this.#env.reset({ seed: this.#seeds.fork(this.#episode).uint32() });
  }

  /** The running episode: its number, then its actions so far. */
  state(): Float64Array {
    return Float64Array.from([this.#episode, ...this.#actions]);
  }

  /** Goes to where `state` was taken, by taking the same actions again. */
  restore(state: Float64Array): void {
    const size = this.#env.actionSpace.size;
    this.#episode = state[0] ?? 0;
    this.#begin();
    for (let at = 1; at < state.length; at += size) this.step(Float32Array.from(state.subarray(at, at + size)));
  }

  close(): void {
    this.#env.close();
  }
}
