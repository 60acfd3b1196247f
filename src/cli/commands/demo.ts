/** `coxswain demo`: an agent that learns before one's eyes, in under a minute. */

import { Command } from "@commander-js/extra-typings";
import { printJson, type Shell } from "../shell.ts";
import { examples, openSession, withSettings } from "./common.ts";
import { wholeNumberOrZero } from "./numbers.ts";

export const demoCommand = (shell: Shell) =>
  withSettings(new Command("demo").description("watch an agent learn to balance a pole, in under a minute"))
    .option("--seed <n>", "another seed, another run", wholeNumberOrZero, 1)
    .addHelpText("after", examples(["coxswain demo --json", "the curve and the scores as one JSON document"]))
    .action(async (options) => {
      const { session, config } = openSession(shell, options);
      const { runDemo } = await import("../demo/run-demo.ts");
      const quiet = options.json ?? false;
      const outcome = await runDemo(session, { seed: options.seed, kernels: config.runtime.kernels, quiet });
      if (options.json) printJson(shell, outcome);
    });
