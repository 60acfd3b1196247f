/**
 * What a worker thread does in a round of parallel training: acts with a copy of the policy in its share of the streams.
 * Its result depends on its config alone. It keeps worlds and policy between rounds only to save time: a stream that is
 * not where the config says is brought there by taking its episode's actions again.
 */

import { seededRng, unwrap } from "../../base/index.ts";
import type { EnvConfig } from "../env/index.ts";
import type { JobKinds, Kernels, TaskContext } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { createLearner } from "./algorithms.ts";
import type { EpisodeReport } from "./course.ts";
import { EpisodeStream } from "./episodes.ts";
import type { Learner, LearnerShape } from "./learner.ts";
import { actionSize, clipAction } from "./learner.ts";
import { createNoise } from "./noise.ts";
import { RolloutSlice } from "./rollout-slice.ts";

export const ROLLOUT_TASK = "rl rollout";

/** Where a stream stands: `EpisodeStream`'s state, and that of exploration noise. */
export interface StreamPlace {
  readonly world: Float64Array;
  readonly noise: Float64Array;
}

export interface RolloutCrew {
  readonly envId: string;
  readonly envConfig?: EnvConfig;
  readonly algorithm: Algorithm;
  readonly shape: LearnerShape;
  readonly seed: number;
}

export interface RolloutJob {
  readonly crew: RolloutCrew;
  /** The learner's checkpoint, in memory that all threads share. */
  readonly policy: Uint8Array;
  readonly round: number;
  readonly slices: readonly {
    readonly stream: number;
    readonly steps: number;
    readonly place: StreamPlace;
    readonly block: SharedArrayBuffer;
  }[];
}

export interface SliceOutcome {
  readonly stream: number;
  readonly place: StreamPlace;
  /** Episodes that ended, by the row they ended in. */
  readonly episodes: readonly (Omit<EpisodeReport, "steps"> & { readonly row: number })[];
}

/** The registry for a worker's entry and its caller. A world of your own is registered by an entry of your own. */
export function rolloutKinds(): JobKinds {
  let kept: Crew | undefined;
  const task = (config: unknown, context: TaskContext): readonly SliceOutcome[] => {
    const job = config as RolloutJob;
    const name = JSON.stringify(job.crew);
    if (kept?.name !== name) {
      kept?.dispose();
      kept = new Crew(job.crew, name, context.kernels);
    }
    return kept.run(job, context);
  };
  return { tasks: { [ROLLOUT_TASK]: task }, models: {} };
}

class Crew {
  readonly name: string;
  readonly #crew: RolloutCrew;
  readonly #policy: Learner;
  readonly #streams = new Map<number, EpisodeStream>();

  constructor(crew: RolloutCrew, name: string, kernels: Kernels) {
    this.name = name;
    this.#crew = crew;
    const { algorithm, shape, seed } = crew;
    this.#policy = createLearner(withoutReplay(algorithm), { kernels, shape, seed });
  }

  run({ policy, slices, round }: RolloutJob, context: TaskContext): readonly SliceOutcome[] {
    // A copy, because text is not decoded out of shared memory.
    unwrap(this.#policy.load(policy.slice()));
    return slices.map((slice) => this.#take(slice, round, context));
  }

  #take(slice: RolloutJob["slices"][number], round: number, context: TaskContext): SliceOutcome {
    const { stream: index, steps, place, block } = slice;
    const { shape, seed, algorithm } = this.#crew;
    const policy = this.#policy;
    const rows = new RolloutSlice(block, { shape, steps });
    const rng = seededRng(seed).fork("rollout").fork(index).fork(round);
    const noise = createNoise(noiseOf(algorithm), actionSize(shape.action));
    noise.restore(place.noise);
    const acting = { explore: true, explorer: { rng, noise } };
    const stream = this.#streamAt(index, place.world);
    const obs = new Float32Array(shape.obs);
    const episodes: SliceOutcome["episodes"][number][] = [];
    for (let row = 0; row < steps && !context.isCancelled(); row++) {
      obs.set(stream.obs);
      const { action: proposed, logProb } = unwrap(policy.act(obs, acting));
      const action = clipAction(shape.action, proposed);
      stream.step(action);
      const { end, reward, episode, length } = stream;
      rows.write(row, { obs, action, proposed, logProb, reward, nextObs: stream.obs, end });
      if (end === "no") continue;
      episodes.push({ row, stream: index, episode, return: stream.return, length, end });
      stream.next();
      noise.reset();
    }
    return { stream: index, place: { world: stream.state(), noise: noise.state() }, episodes };
  }

  #streamAt(index: number, world: Float64Array): EpisodeStream {
    const { envId, envConfig, seed } = this.#crew;
    const config = envConfig === undefined ? {} : { envConfig };
    const found = this.#streams.get(index);
    const seeds = seededRng(seed).fork("training").fork(index);
    const stream = found ?? new EpisodeStream({ envId, seeds, ...config });
    this.#streams.set(index, stream);
    if (!isEqual(stream.state(), world)) stream.restore(world);
    return stream;
  }

  dispose(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#policy.dispose();
  }
}

const isEqual = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && a.every((x, i) => x === b[i]);

export const noiseOf = (algorithm: Algorithm) =>
  algorithm.kind === "ddpg" || algorithm.kind === "bcq" ? algorithm.config.noise : ({ kind: "none" } as const);

/** A policy that only acts needs no room for what it has seen. */
function withoutReplay(algorithm: Algorithm): Algorithm {
  switch (algorithm.kind) {
    case "ppo":
    case "constant":
    case "registered":
      return algorithm;
    case "ddpg":
      return { kind: "ddpg", config: { ...algorithm.config, bufferSize: algorithm.config.batch } };
    case "dqn":
      return { kind: "dqn", config: { ...algorithm.config, bufferSize: algorithm.config.batch } };
    case "bcq":
      return { kind: "bcq", config: { ...algorithm.config, bufferSize: algorithm.config.batch } };
  }
}
