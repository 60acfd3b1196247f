/**
 * One training with its folder: curves, evaluations, checkpoints, and a clean stop that can be gone on from.
 * Not here: learning (learn/rl), the command line (commands/train.ts).
 */

import { openWorkerPool, workerEntry } from "../../adapters/runtime/index.ts";
import { type Evaluation, ParallelTraining, rolloutKinds, Training } from "../../learn/rl/index.ts";
import type { TrainConfig } from "../config/index.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { createProgress } from "../progress.ts";
import { isLive, type Session } from "../shell.ts";
import { formatNumber } from "../table.ts";
import { algorithmOf } from "./algorithm.ts";
import type { RolloutSetup } from "./rollout-worker.ts";
import type { RunFolder } from "./run-folder.ts";

/** Environment steps between two looks at the signal and the terminal. */
const SLICE = 250;
/** Curves of episodes and updates are thinned to about one point per so many steps. */
const CURVE_EVERY_STEPS = 500;

export interface TrainingRun {
  readonly config: TrainConfig;
  readonly kernels: KernelChoice;
  readonly folder: RunFolder;
  /** The user's, which threads load again. */
  readonly modules: readonly string[];
  readonly resumeFrom: Uint8Array | undefined;
}

export interface TrainingOutcome {
  readonly steps: number;
  readonly evaluations: readonly Evaluation[];
  readonly kernels: string;
  readonly wallSeconds: number;
}

export async function runTraining(session: Session, run: TrainingRun): Promise<TrainingOutcome> {
  const { config, folder } = run;
  const started = session.now();
  const kernels = openKernels(run.kernels);
  const curves = new Curves(folder);
  const progress = createProgress(session, `${config.algo} on ${config.task}`);
  let lastReturn: number | undefined;
  const setup: RolloutSetup = { modules: run.modules, task: config.task };
  const pool =
    config.threads === 0
      ? undefined
      : openWorkerPool({
          threads: config.threads,
          kernels,
          kinds: rolloutKinds(),
          entry: workerEntry("./rollout-worker.ts", import.meta.url),
          setup,
        });
  const options = {
    envId: config.task,
    envConfig: config.taskConfig,
    algorithm: algorithmOf(config),
    seed: config.seed,
    kernels,
    totalSteps: config.steps,
    evaluation: { every: config.evaluateEverySteps, episodes: config.evaluateEpisodes },
    checkpointEvery: config.checkpointEverySteps,
    ...(run.resumeFrom ? { resumeFrom: run.resumeFrom } : {}),
    callbacks: {
      onEpisode(episode) {
        lastReturn = episode.return;
        curves.add(episode.steps, { "episode/return": episode.return, "episode/length": episode.length });
        return undefined;
      },
      onUpdate({ actorLoss, criticLoss, more }, { steps }) {
        const named = Object.fromEntries(Object.entries(more).map(([name, value]) => [`train/${name}`, value]));
        curves.add(steps, { "train/actor_loss": actorLoss, "train/critic_loss": criticLoss, ...named });
      },
      onEvaluation(evaluation) {
        recordEvaluation(session, folder, evaluation);
        return undefined;
      },
      onCheckpoint: ({ bytes }) => folder.writeTraining(bytes),
    },
  } satisfies ConstructorParameters<typeof Training>[0];
  const training = pool ? new ParallelTraining({ ...options, pool }) : new Training(options);
  folder.dropEvaluationsAfter(training.steps);
  try {
    while (!training.isDone) {
      if (session.signal.aborted) {
        folder.writeTraining(training.save());
        session.signal.throwIfAborted();
      }
      await advance(training, session.signal);
      const note = lastReturn === undefined ? "" : `last return ${formatNumber(lastReturn)}`;
      progress.update({ fraction: training.steps / config.steps, note });
      await new Promise((resolve) => setImmediate(resolve));
    }
    folder.writeTraining(training.save());
    folder.writePolicy(training.learner.save());
    const evaluations = [...training.evaluations];
    if (evaluations.at(-1)?.steps !== training.steps) {
      // The last policy is the one that is kept, so it is the one to know about.
      const last = { ...training.evaluate({ episodes: config.evaluateEpisodes }), steps: training.steps };
      // A training that had come to its end before wrote this one then.
      folder.dropEvaluationsAfter(training.steps - 1);
      recordEvaluation(session, folder, last);
      evaluations.push(last);
    }
    return {
      steps: training.steps,
      evaluations,
      kernels: kernels.name,
      wallSeconds: Number(((session.now() - started) / 1000).toFixed(1)),
    };
  } finally {
    progress.clear();
    training.dispose();
    await pool?.close();
  }
}

async function advance(training: Training | ParallelTraining, signal: AbortSignal): Promise<void> {
  if (training instanceof Training) return training.advance(SLICE);
  // A round that is given up half way leaves the training at its beginning, so that it can still be saved.
  await training.advance(signal).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown;
  });
}

function recordEvaluation(session: Session, folder: RunFolder, { steps, mean, deviation, returns }: Evaluation): void {
  folder.appendEvaluation({ steps, mean, deviation, returns });
  folder.appendScalars(steps, { "evaluation/return": mean });
  if (!isLive(session, session.stderr)) session.log.info({ steps, return: mean, deviation }, "policy evaluated");
}

/** Means of what happened since the last point: a curve of every episode would be as large as the training is long. */
class Curves {
  readonly #folder: RunFolder;
  readonly #sums = new Map<string, { total: number; count: number }>();
  #writtenAt = 0;

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  add(steps: number, scalars: { readonly [tag: string]: number }): void {
    for (const [tag, value] of Object.entries(scalars)) {
      const sum = this.#sums.get(tag) ?? { total: 0, count: 0 };
      sum.total += value;
      sum.count += 1;
      this.#sums.set(tag, sum);
    }
    if (steps - this.#writtenAt < CURVE_EVERY_STEPS) return;
    this.#writtenAt = steps;
    const means = [...this.#sums].map(([tag, { total, count }]) => [tag, total / count] as const);
    this.#folder.appendScalars(steps, Object.fromEntries(means));
    this.#sums.clear();
  }
}
