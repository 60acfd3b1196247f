/**
 * What every way of training shares, step by step or in rounds on several threads.
 * Owns: the options and callbacks, learning from one transition, when to evaluate and to save, and the part of a
 * checkpoint that says whose it is.
 * Not here: who takes the steps (train.ts, parallel-training.ts).
 */

import type { Result } from "../../base/index.ts";
import { CodedError, err, failure, ok, unwrap } from "../../base/index.ts";
import type { End, EnvConfig } from "../env/index.ts";
import type { Kernels } from "../tensor/index.ts";
import type { Algorithm } from "./algorithms.ts";
import type { Checkpoint, JsonValue, NumberBlock } from "./checkpoint.ts";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
import type { Evaluation } from "./evaluate.ts";
import { evaluate, summarise } from "./evaluate.ts";
import type { Learner, Transition, UpdateStats } from "./learner.ts";

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

/** "stop" ends the training after the current step (or round), as if it had reached its number of steps. */
export type Verdict = "stop" | undefined;

export interface TrainCallbacks {
  onEpisode?(episode: EpisodeReport): Verdict | undefined;
  onUpdate?(stats: UpdateStats, at: { readonly steps: number }): void;
  onEvaluation?(evaluation: Evaluation): Verdict | undefined;
  /** Bytes that `resumeFrom` continues from exactly. */
  onCheckpoint?(checkpoint: { readonly steps: number; readonly bytes: Uint8Array }): void;
}

export interface CourseOptions {
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
  readonly callbacks?: TrainCallbacks;
  /** Bytes of an earlier `onCheckpoint` or `save` of a training with the same options. */
  readonly resumeFrom?: Uint8Array;
}

/** Where a training stands besides its learner: what only its own kind of loop can read. */
export interface Place {
  readonly meta: { readonly [key: string]: JsonValue };
  readonly blocks: { readonly [name: string]: NumberBlock };
}

export class Course {
  readonly learner: Learner;
  readonly #options: CourseOptions;
  readonly #evaluations: Evaluation[] = [];
  #steps = 0;
  #stopped = false;

  constructor(options: CourseOptions, learner: Learner) {
    this.#options = options;
    this.learner = learner;
  }

  /** Environment steps learned from so far. */
  get steps(): number {
    return this.#steps;
  }

  get isDone(): boolean {
    return this.#stopped || this.#steps >= this.#options.totalSteps;
  }

  get evaluations(): readonly Evaluation[] {
    return this.#evaluations;
  }

  /** Before a step: schedules follow how far the training has come. */
  setProgress(): void {
    this.learner.setProgress(this.#steps / this.#options.totalSteps);
  }

  learn(transition: Transition): void {
    unwrap(this.learner.observe(transition));
    this.#steps += 1;
    const stats = this.learner.update();
    if (stats) this.#options.callbacks?.onUpdate?.(stats, { steps: this.#steps });
  }

  finishEpisode(episode: Omit<EpisodeReport, "steps">): void {
    if (this.#options.callbacks?.onEpisode?.({ ...episode, steps: this.#steps }) === "stop") this.#stopped = true;
  }

  evaluateIfDue(): void {
    const { evaluation, callbacks } = this.#options;
    if (!evaluation || this.#steps % evaluation.every !== 0) return;
    const outcome = this.evaluate(evaluation);
    this.#evaluations.push(outcome);
    if (callbacks?.onEvaluation?.(outcome) === "stop") this.#stopped = true;
  }

  get isCheckpointDue(): boolean {
    const { checkpointEvery } = this.#options;
    return checkpointEvery !== undefined && this.#steps % checkpointEvery === 0;
  }

  handOut(bytes: Uint8Array): void {
    this.#options.callbacks?.onCheckpoint?.({ steps: this.#steps, bytes });
  }

  /** Evaluates the policy as it is now; training is not affected. */
  evaluate({ episodes, seed = this.#options.seed }: { episodes: number; seed?: number }): Evaluation {
    const { envId, envConfig } = this.#options;
    return evaluate(this.learner, { envId, episodes, seed, ...(envConfig === undefined ? {} : { envConfig }) });
  }

  save({ meta, blocks }: Place): Uint8Array {
    const { envId, seed } = this.#options;
    const evaluations = this.#evaluations.map(({ steps, returns, lengths }) => ({ steps, returns, lengths }));
    return encodeCheckpoint({
      kind: "training",
      meta: { envId, seed, algorithm: this.learner.kind, steps: this.#steps, ...meta, evaluations },
      blocks: { learner: this.learner.save({ resumable: true }), ...blocks },
    });
  }

  /** Continues from saved bytes if they are of this training and `fits` knows the place; else changes nothing. */
  resume(bytes: Uint8Array, { fits, how }: { fits: (place: Place) => boolean; how: string }): Result<Place> {
    const decoded = decodeCheckpoint(bytes);
    if (!decoded.ok) return decoded;
    const { kind, meta, blocks } = decoded.value;
    const { envId, seed } = this.#options;
    const isSame =
      kind === "training" && meta.envId === envId && meta.seed === seed && meta.algorithm === this.learner.kind;
    if (!isSame || !(blocks.learner instanceof Uint8Array) || !fits(decoded.value)) {
      return err(
        failure(
          "checkpoint.mismatch",
          `the checkpoint is not of a training of ${this.learner.kind} on ${envId} with seed ${seed} and ${how}; resume with the options it was started with`,
        ),
      );
    }
    const loaded = this.learner.load(blocks.learner);
    if (!loaded.ok) return loaded;
    this.#steps = Number(meta.steps);
    this.#evaluations.push(...savedEvaluations(meta));
    return ok(decoded.value);
  }
}

function savedEvaluations(meta: Checkpoint["meta"]): Evaluation[] {
  const saved = meta.evaluations as unknown as readonly Pick<Evaluation, "steps" | "returns" | "lengths">[];
  return saved.map(({ steps, returns, lengths }) => summarise(steps, returns, lengths));
}

export interface TrainOutcome {
  readonly steps: number;
  readonly evaluations: readonly Evaluation[];
  /** The learner's own checkpoint: what `openLearner` and `coxswain evaluate` read. */
  readonly checkpoint: Uint8Array;
}

export function outcomeOf({ steps, evaluations, learner }: Course): TrainOutcome {
  return { steps, evaluations, checkpoint: learner.save() };
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  if (signal.reason instanceof Error) throw signal.reason;
  throw new CodedError(
    failure("rl.aborted", "the training was stopped before its end; start it again from its last checkpoint", {
      retry: true,
    }),
  );
}
