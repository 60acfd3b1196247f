/**
 * Training: one loop for every algorithm, deterministic in {environment, algorithm, seed, kernels}.
 * Owns: the streams of episodes, when to evaluate and to save, the callbacks, and continuing from a checkpoint so
 * exactly that nobody can tell there was a break.
 * Not here: learning (the algorithms' files), time and files (the shell passes `pause` and keeps the bytes).
 */

import type { Result } from "../../base/index.ts";
import { CodedError, err, failure, ok, seededRng, unwrap } from "../../base/index.ts";
import type { End, EnvConfig } from "../env/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import { createLearner, streamsOf } from "./algorithms.ts";
import type { Checkpoint, NumberBlock } from "./checkpoint.ts";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
import { EpisodeStream } from "./episodes.ts";
import type { Evaluation } from "./evaluate.ts";
import { evaluate, summarise } from "./evaluate.ts";
import type { Learner, Transition, UpdateStats } from "./learner.ts";
import { actionShapeOf, clipAction } from "./learner.ts";

export interface EpisodeReport {
  readonly stream: number;
  /** The episode's number within its stream. */
  readonly episode: number;
  readonly return: number;
  readonly length: number;
  readonly end: End;
  /** Environment steps of the whole training so far. */
  readonly steps: number;
}

/** "stop" ends the training after the current step, as if it had reached its number of steps. */
export type Verdict = "stop" | undefined;

export interface TrainCallbacks {
  onEpisode?(episode: EpisodeReport): Verdict | undefined;
  onUpdate?(stats: UpdateStats, at: { readonly steps: number }): void;
  onEvaluation?(evaluation: Evaluation): Verdict | undefined;
  /** Bytes that `resumeFrom` continues from exactly. */
  onCheckpoint?(checkpoint: { readonly steps: number; readonly bytes: Uint8Array }): void;
}

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

export interface TrainOptions {
  readonly envId: string;
  readonly envConfig?: EnvConfig;
  readonly algorithm: Algorithm;
  readonly seed: number;
  readonly kernels: Kernels;
  /** Environment steps in all, over all streams. */
  readonly totalSteps: number;
  /** Evaluate every so many steps, over so many episodes; the seed defaults to the training's, in a stream of its own. */
  readonly evaluation?: { readonly every: number; readonly episodes: number; readonly seed?: number };
  /** Steps between checkpoints handed to `onCheckpoint`; absent for none. */
  readonly checkpointEvery?: number;
  readonly context?: ContextSource;
  readonly callbacks?: TrainCallbacks;
  /** Bytes of an earlier `onCheckpoint` or `save` of a training with the same options. */
  readonly resumeFrom?: Uint8Array;
}

/** A training that is moved on from outside, a slice at a time. */
export class Training {
  readonly learner: Learner;
  readonly #options: TrainOptions;
  readonly #streams: EpisodeStream[];
  readonly #evaluations: Evaluation[] = [];
  readonly #obs: Float32Array;
  #next = 0;
  #steps = 0;
  #stopped = false;

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
    if (options.resumeFrom) unwrap(this.#resume(options.resumeFrom));
  }

  /** Environment steps taken so far. */
  get steps(): number {
    return this.#steps;
  }

  get isDone(): boolean {
    return this.#stopped || this.#steps >= this.#options.totalSteps;
  }

  get evaluations(): readonly Evaluation[] {
    return this.#evaluations;
  }

  /** Takes up to `steps` environment steps, learning as it goes. */
  advance(steps: number): void {
    for (let i = 0; i < steps && !this.isDone; i++) this.#step();
  }

  #step(): void {
    const { totalSteps, callbacks, context } = this.#options;
    const { learner } = this;
    const index = this.#next;
    const stream = this.#streams[index]!;
    learner.setProgress(this.#steps / totalSteps);
    this.#obs.set(stream.obs);
    const before = context?.at(index, stream.obs) ?? {};
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
    unwrap(learner.observe(after ? withNextContexts(transition, after) : transition));
    this.#steps += 1;
    this.#next = (index + 1) % this.#streams.length;
    const stats = learner.update();
    if (stats) callbacks?.onUpdate?.(stats, { steps: this.#steps });
    if (end !== "no") this.#finishEpisode(stream, index);
    this.#milestones();
  }

  #finishEpisode(stream: EpisodeStream, index: number): void {
    const { episode, length, end } = stream;
    const report = { stream: index, episode, return: stream.return, length, end, steps: this.#steps };
    if (this.#options.callbacks?.onEpisode?.(report) === "stop") this.#stopped = true;
    stream.next();
  }

  #milestones(): void {
    const { evaluation, checkpointEvery, callbacks } = this.#options;
    if (evaluation && this.#steps % evaluation.every === 0) {
      const outcome = this.evaluate(evaluation);
      this.#evaluations.push(outcome);
      if (callbacks?.onEvaluation?.(outcome) === "stop") this.#stopped = true;
    }
    if (checkpointEvery !== undefined && this.#steps % checkpointEvery === 0) {
      callbacks?.onCheckpoint?.({ steps: this.#steps, bytes: this.save() });
    }
  }

  /** Evaluates the policy as it is now; training is not affected. */
  evaluate({ episodes, seed = this.#options.seed }: { episodes: number; seed?: number }): Evaluation {
    const { envId, envConfig } = this.#options;
    return evaluate(this.learner, { envId, episodes, seed, ...(envConfig === undefined ? {} : { envConfig }) });
  }

  /** Everything it takes to continue exactly from here. */
  save(): Uint8Array {
    const { envId, seed } = this.#options;
    const blocks: { [name: string]: NumberBlock } = { learner: this.learner.save({ resumable: true }) };
    for (const [i, stream] of this.#streams.entries()) blocks[`stream ${i}`] = stream.state();
    const evaluations = this.#evaluations.map(({ steps, returns, lengths }) => ({ steps, returns, lengths }));
    const place = { steps: this.#steps, next: this.#next };
    return encodeCheckpoint({
      kind: "training",
      meta: { envId, seed, algorithm: this.learner.kind, ...place, evaluations },
      blocks,
    });
  }

  #resume(bytes: Uint8Array): Result<void> {
    const decoded = decodeCheckpoint(bytes);
    if (!decoded.ok) return decoded;
    const { kind, meta, blocks } = decoded.value;
    const { envId, seed } = this.#options;
    const states = this.#streams.map((_, i) => blocks[`stream ${i}`]);
    const isSame =
      kind === "training" && meta.envId === envId && meta.seed === seed && meta.algorithm === this.learner.kind;
    if (!isSame || !(blocks.learner instanceof Uint8Array) || !states.every((s) => s instanceof Float64Array)) {
      return err(
        failure(
          "checkpoint.mismatch",
          `the checkpoint is not of a training of ${this.learner.kind} on ${envId} with seed ${seed} and ${states.length} stream(s); resume with the options it was started with`,
        ),
      );
    }
    const loaded = this.learner.load(blocks.learner);
    if (!loaded.ok) return loaded;
    for (const [i, stream] of this.#streams.entries()) stream.restore(states[i] as Float64Array);
    this.#steps = Number(meta.steps);
    this.#next = Number(meta.next);
    this.#evaluations.push(...savedEvaluations(meta));
    return ok(undefined);
  }

  dispose(): void {
    for (const stream of this.#streams) stream.close();
    this.learner.dispose();
  }
}

const EXPLORE = { explore: true };

function withNextContexts(t: Transition, after: ReturnType<ContextSource["at"]>): Transition {
  return {
    ...t,
    ...(after.actorContext === undefined ? {} : { nextActorContext: after.actorContext }),
    ...(after.criticContext === undefined ? {} : { nextCriticContext: after.criticContext }),
  };
}

function savedEvaluations(meta: Checkpoint["meta"]): Evaluation[] {
  const saved = meta.evaluations as unknown as readonly Pick<Evaluation, "steps" | "returns" | "lengths">[];
  return saved.map(({ steps, returns, lengths }) => summarise(steps, returns, lengths));
}

export interface TrainRun extends TrainOptions {
  /** Ends the training between two slices; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Lets others run between two slices (the shell passes a turn of the event loop); without it nobody can abort. */
  readonly pause?: () => Promise<void>;
}

export interface TrainOutcome {
  readonly steps: number;
  readonly evaluations: readonly Evaluation[];
  /** The learner's own checkpoint: what `openLearner` and `coxswain evaluate` read. */
  readonly checkpoint: Uint8Array;
}

const SLICE = 500;

/** Trains to the end. */
export async function train({ signal, pause, ...options }: TrainRun): Promise<TrainOutcome> {
  const training = new Training(options);
  try {
    while (!training.isDone) {
      if (signal?.aborted) throw signal.reason instanceof Error ? signal.reason : new CodedError(aborted());
      training.advance(SLICE);
      await pause?.();
    }
    const { steps, evaluations, learner } = training;
    return { steps, evaluations, checkpoint: learner.save() };
  } finally {
    training.dispose();
  }
}

const aborted = () =>
  failure("rl.aborted", "the training was stopped before its end; start it again from its last checkpoint", {
    retry: true,
  });
