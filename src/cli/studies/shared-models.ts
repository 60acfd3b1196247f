/**
 * The pre-trained models that a study's jobs begin with: trained before the first job, on all cores, and kept.
 * Owns: where they are kept and under which name. Not here: pre-training itself (cli/pretraining), jobs (run-study.ts).
 *
 * A model is known by all that shapes it: the settings, the kernels, and the code that pre-training runs. It is trained once, goes
 * on where it was stopped, and serves every study that asks for the same.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SharedTraining } from "../../pretraining/index.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { packageVersion } from "../package-info.ts";
import { runPretraining } from "../pretraining/run-pretraining.ts";
import { savedSettings } from "../pretraining/settings.ts";
import type { Session } from "../shell.ts";
import { RunFolder } from "../training/run-folder.ts";
import { codeHash } from "./fingerprint.ts";
import { threadCount } from "./job-pool.ts";
import type { ModelFiles } from "./study-kinds.ts";

export interface ModelsOptions {
  readonly needs: Readonly<Record<string, SharedTraining>>;
  /** Where finished work is kept. */
  readonly data: string;
  readonly kernels: KernelChoice;
  /** 0: one thread per core. */
  readonly workers: number;
}

const CHECKPOINT_MS = 60_000;

/**
 * What pre-training runs: learners, the simulated cluster, the task. Not agents' lives, other worlds or what studies make
 * of results: a model takes an hour, and those change without changing it.
 */
const TRAINING_CODE = [
  ...["base", "learn", "observe/telemetry", "act", "sim/engine", "sim/cluster", "control/tasks"],
  ...["pretraining/pool-members", "pretraining/pools", "pretraining/scene"],
];

export async function trainModels(session: Session, { needs, ...options }: ModelsOptions): Promise<ModelFiles> {
  const files: { [name: string]: string } = {};
  for (const [name, settings] of Object.entries(needs)) files[name] = await trainOne(session, settings, options);
  return files;
}

/** Sixteen digits that stand for all that shapes a model. */
export function modelName(settings: SharedTraining, kernels: KernelChoice): string {
  const parts = [settings, openKernels(kernels).name, packageVersion(), codeHash(TRAINING_CODE)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export const modelFile = (data: string, name: string): string => join(data, "models", name, "model.ckpt");

async function trainOne(
  session: Session,
  settings: SharedTraining,
  { data, kernels, workers }: Omit<ModelsOptions, "needs">,
): Promise<string> {
  const file = modelFile(data, modelName(settings, kernels));
  const folder = new RunFolder(dirname(file));
  if (existsSync(file)) return file;
  const resumeFrom = folder.hasTraining && isSame(folder, settings) ? folder.readTraining().bytes : undefined;
  if (!resumeFrom) folder.writeRun({ pretrain: settings });
  const threads = threadCount(workers, settings.config.environmentsPerRound);
  const training = await runPretraining(session, {
    settings,
    kernels,
    threads,
    folder,
    checkpointMs: CHECKPOINT_MS,
    resumeFrom,
  });
  training.dispose();
  return file;
}

function isSame(folder: RunFolder, settings: SharedTraining): boolean {
  return JSON.stringify(savedSettings(folder)) === JSON.stringify(settings);
}
