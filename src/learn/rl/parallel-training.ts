/**
 * Training in rounds, with the steps of a round taken on several threads.
 * A round: the policy is copied to all threads, every stream takes its slice of steps, and the learner sees them step by
 * step, stream after stream, updating as it would on one thread. How many streams and how long a slice decides what is
 * learned; how many threads only how fast, for chance comes from {seed, stream, round}. PPO's round is its rollout.
 * Not here: threads (they come in as a WorkerPool), acting (rollout-task.ts).
 */

import { unwrap } from "../../base/index.ts";
import { makeVectorEnv } from "../env/index.ts";
import type { WorkerPool } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { createLearner } from "./algorithms.ts";
import type { NumberBlock } from "./checkpoint.ts";
import type { CourseOptions, Place, TrainOutcome } from "./course.ts";
import { Course, outcomeOf, throwIfAborted } from "./course.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Learner } from "./learner.ts";
import { actionShapeOf, actionSize } from "./learner.ts";
import { createNoise } from "./noise.ts";
import { RolloutSlice } from "./rollout-slice.ts";
import type { RolloutCrew, RolloutJob, SliceOutcome, StreamPlace } from "./rollout-task.ts";
import { noiseOf, ROLLOUT_TASK } from "./rollout-task.ts";

export interface ParallelTrainOptions extends CourseOptions {
  /** Threads that know `rolloutKinds()`. */
  readonly pool: WorkerPool;
  /** Streams, and steps of each in a round, for learners with a replay buffer. PPO's are those of its rollout. */
  readonly rounds?: RoundShape;
}

export interface RoundShape {
  readonly streams: number;
  readonly steps: number;
}

const DEFAULT_ROUNDS: RoundShape = { streams: 4, steps: 32 };

/** A training that is moved on from outside, a round at a time. Checkpoints fall on ends of rounds. */
export class ParallelTraining {
  readonly learner: Learner;
  readonly #options: ParallelTrainOptions;
  readonly #course: Course;
  readonly #crew: RolloutCrew;
  readonly #shape: RoundShape;
  readonly #blocks: readonly SharedArrayBuffer[];
  #places: readonly StreamPlace[];
  #round = 0;

  constructor(options: ParallelTrainOptions) {
    const { envId, envConfig, algorithm, seed, kernels } = options;
    this.#options = options;
    this.#shape = roundShapeOf(algorithm, options.rounds);
    const config = envConfig === undefined ? {} : { envConfig };
    const world = makeVectorEnv(envId, { count: 1, ...(envConfig === undefined ? {} : { config: envConfig }) });
    const { observationSpace, actionSpace } = world;
    const action = actionShapeOf(actionSpace);
    const shape = { obs: observationSpace.size, action, actorContext: 0, criticContext: 0 };
    world.close();
    this.#crew = { envId, ...config, algorithm, shape, seed };
    this.learner = createLearner(algorithm, { kernels, shape, seed });
    this.#course = new Course(options, this.learner);
    const bytes = RolloutSlice.bytes({ shape, steps: this.#shape.steps });
    const streams = Array.from({ length: this.#shape.streams });
    this.#blocks = streams.map(() => new SharedArrayBuffer(bytes));
    const noise = createNoise(noiseOf(algorithm), actionSize(action)).state();
    // Every stream stands at the beginning of its episode 0.
    this.#places = streams.map(() => ({ world: Float64Array.of(0), noise }));
    if (options.resumeFrom) this.#resume(options.resumeFrom);
  }

  get steps(): number {
    return this.#course.steps;
  }

  get isDone(): boolean {
    return this.#course.isDone;
  }

  get evaluations(): readonly Evaluation[] {
    return this.#course.evaluations;
  }

  /** One round. A failure or an abort leaves the training where the round began: call again, or save and go on later. */
  async advance(signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.isDone) return;
    this.#course.setProgress();
    const left = this.#options.totalSteps - this.steps;
    const lengths = this.#blocks.map((_, i) => stepsIn(this.#shape, left, i));
    const outcomes = await this.#gather(lengths, signal);
    throwIfAborted(signal);
    this.#learn(lengths, outcomes);
  }

  async #gather(lengths: readonly number[], signal: AbortSignal | undefined): Promise<readonly SliceOutcome[]> {
    const { pool } = this.#options;
    const saved = this.learner.save();
    const policy = new Uint8Array(new SharedArrayBuffer(saved.length));
    policy.set(saved);
    // One task per thread, always with the same streams: an idle pool hands them out in order, so that a thread finds
    // its worlds where it left them.
    const groups = Math.min(pool.threads, this.#blocks.length);
    const running = Array.from({ length: groups }, (_, group) => {
      const slices = this.#blocks
        .map((block, stream) => ({ stream, block, steps: lengths[stream] ?? 0, place: this.#place(stream) }))
        .filter(({ stream }) => stream % groups === group);
      const config: RolloutJob = { crew: this.#crew, policy, round: this.#round, slices };
      return pool.run({ kind: ROLLOUT_TASK, config }, signal ? { signal } : {});
    });
    // All must have ended before anything else happens: they write to memory that the next round uses.
    const settled = await Promise.allSettled(running);
    for (const end of settled) if (end.status === "rejected") throw end.reason;
    const outcomes = settled.flatMap((end) => (end.status === "fulfilled" ? (end.value as SliceOutcome[]) : []));
    return outcomes.sort((a, b) => a.stream - b.stream);
  }

  #learn(lengths: readonly number[], outcomes: readonly SliceOutcome[]): void {
    const course = this.#course;
    const slices = this.#blocks.map(
      (block, i) => new RolloutSlice(block, { shape: this.#crew.shape, steps: lengths[i] ?? 0 }),
    );
    let isCheckpointDue = false;
    for (let row = 0; row < (lengths[0] ?? 0); row++) {
      for (const [stream, slice] of slices.entries()) {
        if (row >= (lengths[stream] ?? 0)) continue;
        course.setProgress();
        course.learn(slice.read(row, stream));
        const ended = outcomes[stream]?.episodes.find((episode) => episode.row === row);
        if (ended) {
          const { row: _, ...episode } = ended;
          course.finishEpisode(episode);
        }
        course.evaluateIfDue();
        isCheckpointDue ||= course.isCheckpointDue;
      }
    }
    this.#places = outcomes.map(({ place }) => place);
    this.#round += 1;
    if (isCheckpointDue) course.handOut(this.save());
  }

  #place(stream: number): StreamPlace {
    return this.#places[stream] ?? { world: Float64Array.of(0), noise: new Float64Array() };
  }

  evaluate(options: { episodes: number; seed?: number }): Evaluation {
    return this.#course.evaluate(options);
  }

  outcome(): TrainOutcome {
    return outcomeOf(this.#course);
  }

  /** Everything it takes to continue exactly from here, on any number of threads. */
  save(): Uint8Array {
    const blocks: { [name: string]: NumberBlock } = {};
    for (const [i, { world, noise }] of this.#places.entries()) {
      blocks[`slice ${i}/world`] = world;
      blocks[`slice ${i}/noise`] = noise;
    }
    return this.#course.save({ meta: { round: this.#round, roundSteps: this.#shape.steps }, blocks });
  }

  #resume(bytes: Uint8Array): void {
    const { streams, steps } = this.#shape;
    const placesIn = ({ blocks }: Place) =>
      this.#places.map((_, i) => ({ world: blocks[`slice ${i}/world`], noise: blocks[`slice ${i}/noise`] }));
    const fits = (place: Place) =>
      place.meta.roundSteps === steps &&
      place.blocks[`slice ${streams}/world`] === undefined &&
      placesIn(place).every(({ world, noise }) => world instanceof Float64Array && noise instanceof Float64Array);
    const found = unwrap(
      this.#course.resume(bytes, { fits, how: `rounds of ${streams} stream(s) of ${steps} step(s)` }),
    );
    this.#places = placesIn(found) as StreamPlace[];
    this.#round = Number(found.meta.round);
  }

  dispose(): void {
    this.learner.dispose();
  }
}

function roundShapeOf(algorithm: Algorithm, rounds: RoundShape = DEFAULT_ROUNDS): RoundShape {
  if (algorithm.kind !== "ppo") return rounds;
  return { streams: algorithm.config.streams, steps: algorithm.config.rolloutSteps };
}

/** A stream's share of a round; the last round is shorter, and ends as if streams had taken turns. */
function stepsIn({ streams, steps }: RoundShape, left: number, stream: number): number {
  return Math.min(steps, Math.ceil((left - stream) / streams));
}

/** Trains to the end. The pool stays open. */
export async function trainParallel(
  options: ParallelTrainOptions & { readonly signal?: AbortSignal },
): Promise<TrainOutcome> {
  const { signal, ...rest } = options;
  const training = new ParallelTraining(rest);
  try {
    while (!training.isDone) await training.advance(signal);
    return training.outcome();
  } finally {
    training.dispose();
  }
}
