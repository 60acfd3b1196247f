/**
 * Training: one loop for every algorithm, deterministic in {environment, algorithm, seed, kernels}.
 * Owns: the streams of episodes, and continuing from a checkpoint so exactly that nobody can tell there was a break.
 * Not here: learning (the algorithms' files), what it shares with training on several threads (course.ts), time and
 * files (the shell passes `pause` and keeps the bytes).
 */

import { seededRng, unwrap } from "../../base/index.ts";
import { createLearner, streamsOf } from "./algorithms.ts";
import type { NumberBlock } from "./checkpoint.ts";
import type { CourseOptions, Place, TrainOutcome } from "./course.ts";
import { Course, outcomeOf, throwIfAborted } from "./course.ts";
import { EpisodeStream } from "./episodes.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Learner, Transition } from "./learner.ts";
import { actionShapeOf, clipAction } from "./learner.ts";

/** What learners see besides the observation. */
export interface ContextSource {
  readonly actorWidth: number;
  readonly criticWidth: number;
  /** The contexts that go with a stream's current observation; fresh or reused arrays, they are copied at once. */
  at(
    stream: number,
    obs: Float32Array,
  ): { readonly actorContext?: ArrayLike<number>; readonly criticContext?: ArrayLike<number> };
}

export interface TrainOptions extends CourseOptions {
  readonly context?: ContextSource;
}

/** A training that is moved on from outside, a slice at a time. */
export class Training {
  readonly learner: Learner;
  readonly #options: TrainOptions;
  readonly #course: Course;
  readonly #streams: EpisodeStream[];
  readonly #obs: Float32Array;
  #next = 0;

  constructor(options: TrainOptions) {
    const { envId, envConfig, algorithm, seed, kernels, context } = options;
    this.#options = options;
    const seeds = seededRng(seed).fork("training");
    this.#streams = Array.from({ length: streamsOf(algorithm) }, (_, stream) => {
      const config = envConfig === undefined ? {} : { envConfig };
      return new EpisodeStream({ envId, seeds: seeds.fork(stream), ...config });
    });
    const first = this.#streams[0]!;
    const shape = {
      obs: first.observationSpace.size,
      action: actionShapeOf(first.actionSpace),
      actorContext: context?.actorWidth ?? 0,
      criticContext: context?.criticWidth ?? 0,
    };
    this.#obs = new Float32Array(shape.obs);
    this.learner = createLearner(algorithm, { kernels, shape, seed });
    this.#course = new Course(options, this.learner);
    if (options.resumeFrom) this.#resume(options.resumeFrom);
  }

  /** Environment steps taken so far. */
  get steps(): number {
    return this.#course.steps;
  }

  get isDone(): boolean {
    return this.#course.isDone;
  }

  get evaluations(): readonly Evaluation[] {
    return this.#course.evaluations;
  }

  /** Takes up to `steps` environment steps, learning as it goes. */
  advance(steps: number): void {
    for (let i = 0; i < steps && !this.isDone; i++) this.#step();
  }

  outcome(): TrainOutcome {
    return outcomeOf(this.#course);
  }

  #step(): void {
    const { context } = this.#options;
    const { learner } = this;
    const course = this.#course;
    const index = this.#next;
    const stream = this.#streams[index]!;
    course.setProgress();
    this.#obs.set(stream.obs);
    const before = context ? copied(context.at(index, stream.obs)) : {};
    const acting = before.actorContext === undefined ? EXPLORE : { ...EXPLORE, actorContext: before.actorContext };
    const { action: proposed, logProb } = unwrap(learner.act(this.#obs, acting));
    const action = clipAction(learner.shape.action, proposed);
    stream.step(action);
    const { end, reward } = stream;
    const transition: Transition = {
      obs: this.#obs,
      action,
      proposed,
      logProb,
      reward,
      nextObs: stream.obs,
      end,
      stream: index,
      ...before,
    };
    const after = context?.at(index, stream.obs);
    course.learn(after ? withNextContexts(transition, after) : transition);
    this.#next = (index + 1) % this.#streams.length;
    if (end !== "no") {
      const { episode, length } = stream;
      course.finishEpisode({ stream: index, episode, return: stream.return, length, end });
      stream.next();
    }
    course.evaluateIfDue();
    if (course.isCheckpointDue) course.handOut(this.save());
  }

  /** Evaluates the policy as it is now; training is not affected. */
  evaluate(options: { episodes: number; seed?: number }): Evaluation {
    return this.#course.evaluate(options);
  }

  /** Everything it takes to continue exactly from here. */
  save(): Uint8Array {
    const blocks: { [name: string]: NumberBlock } = {};
    for (const [i, stream] of this.#streams.entries()) blocks[`stream ${i}`] = stream.state();
    return this.#course.save({ meta: { next: this.#next }, blocks });
  }

  #resume(bytes: Uint8Array): void {
    const statesIn = ({ blocks }: Place) => this.#streams.map((_, i) => blocks[`stream ${i}`]);
    const place = this.#course.resume(bytes, {
      fits: (found) => statesIn(found).every((state) => state instanceof Float64Array),
      how: `${this.#streams.length} stream(s), step by step`,
    });
    const found = unwrap(place);
    const states = statesIn(found);
    for (const [i, stream] of this.#streams.entries()) stream.restore(states[i] as Float64Array);
    this.#next = Number(found.meta.next);
  }

  dispose(): void {
    for (const stream of this.#streams) stream.close();
    this.learner.dispose();
  }
}

const EXPLORE = { explore: true };

/** A source may hand out the same arrays after the step, so what held before it is kept apart. */
function copied({ actorContext, criticContext }: ReturnType<ContextSource["at"]>): ReturnType<ContextSource["at"]> {
  return {
    ...(actorContext === undefined ? {} : { actorContext: Float32Array.from(actorContext) }),
    ...(criticContext === undefined ? {} : { criticContext: Float32Array.from(criticContext) }),
  };
}

function withNextContexts(t: Transition, after: ReturnType<ContextSource["at"]>): Transition {
  return {
    ...t,
    ...(after.actorContext === undefined ? {} : { nextActorContext: after.actorContext }),
    ...(after.criticContext === undefined ? {} : { nextCriticContext: after.criticContext }),
  };
}

export interface TrainRun extends TrainOptions {
  /** Ends the training between two slices; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Lets others run between two slices (the shell passes a turn of the event loop); without it nobody can abort. */
  readonly pause?: () => Promise<void>;
}

const SLICE = 500;

/** Trains to the end. */
export async function train({ signal, pause, ...options }: TrainRun): Promise<TrainOutcome> {
  const training = new Training(options);
  try {
    while (!training.isDone) {
      throwIfAborted(signal);
      training.advance(SLICE);
      await pause?.();
    }
    return training.outcome();
  } finally {
    training.dispose();
  }
}
