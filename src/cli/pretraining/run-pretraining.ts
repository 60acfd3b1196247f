/**
 * One pre-training with its folder: threads, checkpoints, progress, and a stop that can be gone on from.
 * Not here: what a round does (learn/meta), what is written at the end (report.ts), the command line (commands/pretrain.ts).
 *
 *   run.json             settings and provenance
 *   training.ckpt        continues exactly; the one before it is kept as training.previous.ckpt
 *   model.ckpt           the finished encoder and policy, and the pool's embeddings
 *   report.json, *.svg   curves and the map of the pool
 */

import { openWorkerPool, workerEntry } from "../../adapters/runtime/index.ts";
import { podsTaskName } from "../../control/tasks/pods/index.ts";
import { encodePretrained, Pretraining, pretrainKinds } from "../../learn/meta/index.ts";
import {
  guidedEntries,
  guidedTraits,
  limitsGuide,
  poolEntries,
  poolShape,
  poolTraits,
  poolWorld,
  type SharedTraining,
} from "../../pretraining/index.ts";
import { cellMemory, shareCells } from "../../sim/index.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { createProgress } from "../progress.ts";
import { isLive, type Session } from "../shell.ts";
import { formatNumber } from "../table.ts";
import type { RunFolder } from "../training/run-folder.ts";

export interface PretrainRun {
  readonly settings: SharedTraining;
  readonly kernels: KernelChoice;
  readonly threads: number;
  readonly folder: RunFolder;
  /** Least time between two checkpoints; when they are written changes nothing else. */
  readonly checkpointMs: number;
  readonly resumeFrom: Uint8Array | undefined;
}

/** Which part of the thousand applications is learned on, and which of its members: the seed says. */
export const TRAINING_PART = "known";

/** Trains to the end, or until the signal, and then saves. The caller disposes. */
export async function runPretraining(session: Session, run: PretrainRun): Promise<Pretraining> {
  const { settings, folder, threads } = run;
  const { seed, config, applications, actions } = settings;
  const kernels = openKernels(run.kernels);
  // Any thread may meet any application, this one too: what one has found out about it is told to the others.
  const memory = cellMemory();
  shareCells(memory);
  const runner = openWorkerPool({
    kinds: pretrainKinds(poolWorld, limitsGuide),
    entry: workerEntry("./worker.ts", import.meta.url),
    threads,
    kernels,
    memory,
  });
  const training = new Pretraining({
    ...poolOf(session, settings),
    shape: poolShape,
    config,
    seed,
    kernels,
    runner,
    ...(run.resumeFrom ? { resumeFrom: run.resumeFrom } : {}),
  });
  const progress = createProgress(session, `pre-training on ${applications} applications`);
  const resumedAt = training.progress;
  let savedAt = session.now();
  try {
    while (!training.isDone) {
      if (session.signal.aborted) {
        folder.writeTraining(training.save());
        session.signal.throwIfAborted();
      }
      await training.advance();
      if (session.now() - savedAt >= run.checkpointMs) {
        folder.writeTraining(training.save());
        savedAt = session.now();
      }
      // Time left is counted from here on: what an earlier run did says nothing about this one's speed.
      progress.update({ fraction: (training.progress - resumedAt) / (1 - resumedAt), note: noteOf(training) });
      tell(session, training);
    }
    folder.writeTraining(training.save());
    const task = podsTaskName({ features: "extended", actions });
    folder.writeBytes("model.ckpt", encodePretrained({ ...training.model(), task }));
    return training;
  } catch (thrown) {
    training.dispose();
    throw thrown;
  } finally {
    progress.clear();
    await runner.close();
  }
}

/** Guides are searched for on this thread, before training begins. */
function poolOf(session: Session, { seed, config, applications, actions, pool }: SharedTraining) {
  const choice = { seed, part: TRAINING_PART, actions, pool } as const;
  if (config.guide.weight === 0) return { pool: poolEntries(choice, applications), traits: poolTraits };
  const progress = createProgress(session, `looking for good limits of ${applications} applications`);
  const found = guidedEntries(choice, applications, (done) => progress.update({ fraction: done / applications }));
  progress.clear();
  return { pool: found, traits: guidedTraits, guide: limitsGuide };
}

function noteOf(training: Pretraining): string {
  const last = training.curves.at(-1);
  const { round, rounds } = training;
  return `round ${round} of ${rounds}${last ? `, return ${formatNumber(last.return)}` : ""}`;
}

/** For logs that nobody watches, now and then. */
function tell(session: Session, training: Pretraining): void {
  if (isLive(session, session.stderr) || training.round % TELL_EVERY !== 0) return;
  const last = training.curves.at(-1);
  const share = Number(training.progress.toFixed(3));
  session.log.info({ round: training.round, of: training.rounds, share, return: last?.return }, "pre-training");
}

const TELL_EVERY = 25;
