/** `coxswain evaluate`: a saved policy over several seeds, without exploration, next to a random one. */

import { Command } from "@commander-js/extra-typings";
import { loadModules, modulePaths } from "../modules/load-modules.ts";
import type { Shell } from "../shell.ts";
import { examples, moduleFlag, openSession, withModules, withSettings } from "./common.ts";
import { wholeNumber } from "./numbers.ts";

export const evaluateCommand = (shell: Shell) =>
  withModules(
    withSettings(
      new Command("evaluate").description("evaluate a saved policy over several seeds, next to a random one"),
    ),
  )
    .argument("<checkpoint>", "file written by `coxswain train`: policy.ckpt or training.ckpt")
    .option("--task <id>", "environment id (else the one of the run folder that the checkpoint lies in)")
    .option("--seeds <n>", "how many seeds", wholeNumber, 10)
    .option("--episodes <n>", "whole episodes per seed", wholeNumber, 10)
    .addHelpText(
      "after",
      examples(["coxswain evaluate runs/CartPole-v1-ppo-seed1/policy.ckpt", "ten seeds of ten episodes each"]),
    )
    .action(async (checkpoint, options) => {
      const { session, config } = openSession(shell, options, [moduleFlag(options)]);
      await loadModules(modulePaths(shell, config.modules));
      const { evaluatePolicy } = await import("../training/evaluate-policy.ts");
      await evaluatePolicy(session, { ...options, checkpoint, kernels: config.runtime.kernels });
    });
