/** `coxswain train`: one learner, one task, one folder with everything needed to go on, to look and to evaluate. */

import { isAbsolute, join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { z } from "zod";
import { CodedError, failure } from "../../base/index.ts";
import { envSpec } from "../../learn/env/index.ts";
import { algorithmNames } from "../../learn/rl/index.ts";
import { configSchema, type TrainConfig } from "../config/index.ts";
import { loadEnv } from "../environments/catalog.ts";
import { usageError } from "../failures.ts";
import { loadModules, modulePaths } from "../modules/load-modules.ts";
import { cpuModel, gitCommit, packageVersion } from "../package-info.ts";
import { note, printJson, printLine, type Session, type Shell } from "../shell.ts";
import { formatNumber, renderTable } from "../table.ts";
import { algorithmOf } from "../training/algorithm.ts";
import { RunFolder } from "../training/run-folder.ts";
import { runTraining } from "../training/run-training.ts";
import { examples, moduleFlag, openSession, withModules, withSettings } from "./common.ts";
import { wholeNumber, wholeNumberOrZero } from "./numbers.ts";

export const trainCommand = (shell: Shell) =>
  withModules(withSettings(new Command("train").description("train a learner on a task")))
    .argument("[task]", "environment id, such as CartPole-v1")
    .option("--algo <name>", `learner: ${algorithmNames.join(", ")}, or one of a module`)
    .option("--seed <n>", "seed of every random stream", wholeNumberOrZero)
    .option("--steps <n>", "environment steps to train for", wholeNumber)
    .option(
      "--threads <n>",
      "take steps in rounds on so many threads; 0 (default) in turn with learning",
      wholeNumberOrZero,
    )
    .option("--out <dir>", "folder for checkpoints and curves (else runs/<task>-<algo>-seed<n>)")
    .option("--resume", "go on with the training in --out, with the settings it was started with")
    .addHelpText(
      "after",
      examples(
        ["coxswain train CartPole-v1 --algo ppo --steps 50000", "learn to balance a pole"],
        ["coxswain train Pendulum-v1 --algo td3 --config my.yaml", "with settings of your own, under 'train:'"],
        ["coxswain train BatchSize-v0 --algo table --module mine.js", "your own task and learner"],
        ["coxswain train --resume --out runs/CartPole-v1-ppo-seed1", "go on where it was stopped"],
        ["tensorboard --logdir runs", "look at the curves"],
      ),
    )
    .action(async (task, options) => {
      const { session, config } = openSession(shell, options, [
        { path: ["train", "task"], flag: "<task>", value: task },
        { path: ["train", "algo"], flag: "--algo", value: options.algo },
        { path: ["train", "seed"], flag: "--seed", value: options.seed },
        { path: ["train", "steps"], flag: "--steps", value: options.steps },
        { path: ["train", "threads"], flag: "--threads", value: options.threads },
        moduleFlag(options),
      ]);
      const wanted = config.train;
      const name = options.out ?? join("runs", `${wanted.task}-${wanted.algo}-seed${wanted.seed}`);
      const folder = new RunFolder(isAbsolute(name) ? name : join(shell.cwd, name));
      if (options.resume && options.out === undefined) throw usageError("--resume needs --out, the folder to go on in");
      if (!options.resume && folder.hasTraining) {
        throw usageError(`${name} holds a training already`, "give --resume to go on with it, or another --out");
      }
      const train = options.resume ? savedSettings(folder, options) : wanted;
      const modules = modulePaths(shell, config.modules);
      await loadModules(modules);
      await loadEnv(train.task);
      envSpec(train.task);
      algorithmOf(train);
      const resumeFrom = options.resume ? resumable(session, folder) : undefined;
      folder.writeRun({
        train,
        version: packageVersion(),
        commit: gitCommit(),
        node: process.version,
        cpu: cpuModel(),
      });
      const run = { config: train, kernels: config.runtime.kernels, folder, modules, resumeFrom };
      const outcome = await runTraining(session, run).catch((thrown: unknown) => {
        if (shell.signal.aborted) note(shell, `stopped; \`coxswain train --resume --out ${name}\` goes on`);
        throw thrown;
      });
      const evaluations = outcome.evaluations.map(({ steps, mean, deviation }) => ({ steps, mean, deviation }));
      if (options.json) {
        const { task: id, algo, seed } = train;
        return printJson(shell, {
          task: id,
          algo,
          seed,
          ...outcome,
          evaluations,
          folder: folder.path,
          policy: folder.policyFile,
        });
      }
      const rows = evaluations.map((e) => [
        e.steps.toLocaleString("en-US"),
        formatNumber(e.mean),
        formatNumber(e.deviation),
      ]);
      const right = (head: string) => ({ head, align: "right" as const });
      printLine(shell, renderTable([right("steps"), right("return"), right("± between episodes")], rows));
      printLine(
        shell,
        `\n${train.algo} on ${train.task}, seed ${train.seed}: ${outcome.steps} steps in ${outcome.wallSeconds} s`,
      );
      printLine(shell, `policy: ${folder.policyFile}`);
    });

const savedRun = z.looseObject({ train: configSchema.shape.train });

/** A schedule or a buffer of another size would make a different training of it; its length and its speed may change. */
function savedSettings(folder: RunFolder, { steps, threads }: { steps?: number; threads?: number }): TrainConfig {
  const parsed = savedRun.safeParse(folder.readRun());
  if (!parsed.success) {
    throw new CodedError(
      failure("train.no-run", `${folder.path}: run.json is not of a training of this version; start a new one`),
    );
  }
  const { train } = parsed.data;
  // In turn and in rounds are two different trainings; how many threads a round has changes nothing.
  if (threads !== undefined && (threads === 0) !== (train.threads === 0)) {
    throw usageError(`the training in ${folder.path} was started with --threads ${train.threads}`, "resume it without");
  }
  return { ...train, steps: steps ?? train.steps, threads: threads ?? train.threads };
}

function resumable(session: Session, folder: RunFolder): Uint8Array {
  const { bytes, refused } = folder.readTraining();
  if (refused !== undefined) session.log.warn({ refused }, "checkpoint refused, going on from the one before it");
  return bytes;
}
