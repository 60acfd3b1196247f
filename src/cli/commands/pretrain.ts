/** `coxswain pretrain`: one encoder and one shared policy over many applications, for workloads nobody has seen yet. */

import { Command, Option } from "@commander-js/extra-typings";
import type { Shell } from "../shell.ts";
import { examples, openSession, withSettings } from "./common.ts";
import { wholeNumber, wholeNumberOrZero } from "./numbers.ts";

export const pretrainCommand = (shell: Shell) =>
  withSettings(
    new Command("pretrain").description("pre-train the meta learner and the shared policy on many applications"),
  )
    .option("--applications <n>", "applications to learn on, of 800 (else 200; 24 with --quick)", wholeNumber)
    .option("--visits <n>", "rounds that each application takes part in", wholeNumber)
    .option("--width <n>", "units of the recurrent layers (else 256; 32 with --quick)", wholeNumber)
    .addOption(
      new Option("--actions <kind>", "multiples of what is needed (default), or limits as in the paper").choices([
        "demand",
        "limits",
      ] as const),
    )
    .option("--seed <n>", "seed of every random stream", wholeNumberOrZero)
    .option(
      "--guided",
      "teach it what good limits need to know, and to set them; for --actions limits, which it implies",
    )
    .option("--quick", "a small network and pool: enough to see it learn")
    .option("--threads <n>", "threads that play and compute; 0 (default): one per core", wholeNumberOrZero)
    .option("--unseen <n>", "afterwards, rank so many applications that were not learned on", wholeNumberOrZero)
    .option("--checkpoint-seconds <n>", "least time between checkpoints (else 60)", wholeNumberOrZero)
    .option("--out <dir>", "folder for checkpoints and the report (else runs/pretrain-<n>-seed<n>)")
    .option("--resume", "go on with the pre-training in --out, with the settings it was started with")
    .addHelpText(
      "after",
      examples(
        ["coxswain pretrain --quick --unseen 40", "minutes, to see what it does"],
        ["coxswain pretrain --applications 200 --out runs/pool-200", "the full size"],
        ["coxswain pretrain --resume --out runs/pool-200", "go on where it was stopped or killed"],
      ),
    )
    .action(async (options) => {
      const { session, config } = openSession(shell, options, []);
      const { pretrain } = await import("../pretraining/pretrain.ts");
      await pretrain(session, { ...options, kernels: config.runtime.kernels });
    });
