/**
 * One pre-training from start to end: its folder, where it goes on, and what is said of it.
 * Not here: the flags (commands/pretrain.ts), the rounds (run-pretraining.ts).
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Pretraining } from "../../learn/meta/index.ts";
import {
  earnUnseen,
  embedUnseen,
  rankUnseen,
  type SharedTraining,
  type UnseenRanking,
} from "../../pretraining/index.ts";
import { usageError } from "../failures.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { cpuModel, gitCommit, packageVersion } from "../package-info.ts";
import { createProgress } from "../progress.ts";
import { note, printJson, printLine, type Session, type Shell } from "../shell.ts";
import { formatNumber } from "../table.ts";
import { RunFolder } from "../training/run-folder.ts";
import { type Difference, differenceOf, type PretrainReport, reportOf, writeReport } from "./report.ts";
import { runPretraining } from "./run-pretraining.ts";
import { type PretrainFlags, savedSettings, settingsOf } from "./settings.ts";

export interface PretrainOptions extends PretrainFlags {
  readonly kernels: KernelChoice;
  readonly threads?: number | undefined;
  readonly unseen?: number | undefined;
  readonly checkpointSeconds?: number | undefined;
  readonly out?: string | undefined;
  readonly resume?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function pretrain(session: Session, options: PretrainOptions): Promise<void> {
  const wanted = settingsOf(options);
  const name = options.out ?? join("runs", `pretrain-${wanted.applications}-seed${wanted.seed}`);
  const folder = new RunFolder(isAbsolute(name) ? name : join(session.cwd, name));
  if (options.resume && options.out === undefined) throw usageError("--resume needs --out, the folder to go on in");
  if (!options.resume && folder.hasTraining)
    throw usageError(`${name} holds a training already`, "give --resume to go on with it, or another --out");
  const settings = options.resume ? savedSettings(folder) : wanted;
  const started = session.now();
  const threads = options.threads || availableParallelism();
  // Killed before its first checkpoint, a training has settings and nothing else: it begins anew with those.
  const resumeFrom = options.resume && folder.hasTraining ? resumable(session, folder) : undefined;
  if (!options.resume) writeRun(folder, settings);
  const training = await runPretraining(session, {
    settings,
    kernels: options.kernels,
    threads,
    folder,
    checkpointMs: 1000 * (options.checkpointSeconds ?? 60),
    resumeFrom,
  }).catch((thrown: unknown) => {
    if (session.signal.aborted) note(session, `stopped; \`coxswain pretrain --resume --out ${name}\` goes on`);
    throw thrown;
  });
  const kernels = openKernels(options.kernels).name;
  const unseen = options.unseen ? rank(session, { settings, training, members: options.unseen }) : null;
  const wallSeconds = Number(((session.now() - started) / 1000).toFixed(1));
  const bytes = readFileSync(join(folder.path, "model.ckpt"));
  const model = { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
  const report = reportOf(training, { settings, wallSeconds, threads, kernels, unseen, model });
  await writeReport(folder, report);
  training.dispose();
  if (options.json) return printJson(session, { folder: folder.path, ...report });
  print(session, folder, report);
}

function writeRun(folder: RunFolder, pretrain: SharedTraining): void {
  const provenance = { version: packageVersion(), commit: gitCommit(), node: process.version, cpu: cpuModel() };
  folder.writeRun({ pretrain, ...provenance });
}

function resumable(session: Session, folder: RunFolder): Uint8Array {
  const { bytes, refused } = folder.readTraining();
  if (refused !== undefined) session.log.warn({ refused }, "checkpoint refused, going on from the one before it");
  return bytes;
}

/** Trajectories of each unseen application: what a workload has after a few hours. */
const UNSEEN_TRAJECTORIES = 8;
/** Of each, under every embedding. */
const UNSEEN_EPISODES = 6;

interface Ranked {
  readonly settings: SharedTraining;
  readonly training: Pretraining;
  readonly members: number;
}

function rank(session: Session, { settings, training, members }: Ranked): PretrainReport["unseen"] {
  const progress = createProgress(session, "ranking unseen applications");
  const options = (share: number) => ({
    kernels: openKernels("auto"),
    model: training.model(),
    seed: settings.seed,
    actions: settings.actions,
    members,
    trajectories: UNSEEN_TRAJECTORIES,
    noise: settings.config.exploration.to,
    onMember: (done: number) => progress.update({ fraction: share + done / members / 2 }),
  });
  const earned = earnUnseen({ ...options(0), isTrained: true, episodes: UNSEEN_EPISODES });
  const trained = rankUnseen(earned.map(({ member }) => member));
  const untrained = rankUnseen(embedUnseen({ ...options(0.5), isTrained: false }));
  progress.clear();
  const embedded = earned.map((one) => one.embedded);
  const over = (other: "neutral" | "stranger") =>
    differenceOf(
      embedded,
      earned.map((one) => one[other]),
    );
  return {
    members,
    trained,
    untrained,
    earned: {
      embedded: embedded.reduce((sum, value) => sum + value / members, 0),
      overNeutral: over("neutral"),
      overStranger: over("stranger"),
    },
  };
}

function print(shell: Shell, folder: RunFolder, report: PretrainReport): void {
  const { applications, seed, wallSeconds, threads, kernels, evaluation, unseen } = report;
  printLine(shell, `${applications} applications, seed ${seed}: ${wallSeconds} s on ${threads} thread(s), ${kernels}`);
  const [known, neutral] = [formatNumber(evaluation.known), formatNumber(evaluation.neutral)];
  printLine(shell, `mean return ${known} with each one's embedding, ${neutral} with the neutral one`);
  if (unseen) {
    const area = ({ both, sensitivity, shape }: UnseenRanking) =>
      `${formatNumber(both.area)} (sensitivity ${formatNumber(sensitivity.area)}, load shape ${formatNumber(shape.area)})`;
    printLine(shell, `ranking of ${unseen.members} unseen applications, 0.5 is chance: ${area(unseen.trained)}`);
    printLine(shell, `the same before training: ${area(unseen.untrained)}`);
    const { embedded, overNeutral, overStranger } = unseen.earned;
    const more = ({ mean, lo, hi }: Difference) => `${formatNumber(mean)} [${formatNumber(lo)}, ${formatNumber(hi)}]`;
    printLine(
      shell,
      `they earn ${formatNumber(embedded)} under their embedding: ${more(overNeutral)} more than under none, ${more(overStranger)} more than under another's`,
    );
  }
  printLine(shell, `report and map: ${folder.path}`);
}
