/** All commands in one tree, and how one command line is run: parse, act, report. */

import { Command, CommanderError } from "@commander-js/extra-typings";
import { benchCommand } from "./commands/bench.ts";
import { examples } from "./commands/common.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { demoCommand } from "./commands/demo.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { evaluateCommand } from "./commands/evaluate.ts";
import { injectCommand } from "./commands/inject.ts";
import { pretrainCommand } from "./commands/pretrain.ts";
import { reproduceCommand } from "./commands/reproduce.ts";
import { traceCommand } from "./commands/trace.ts";
import { trainCommand } from "./commands/train.ts";
import { upCommand } from "./commands/up.ts";
import { versionCommand } from "./commands/version.ts";
import { reportFailure, usageError } from "./failures.ts";
import { packageVersion } from "./package-info.ts";
import type { ExitCode, Shell } from "./shell.ts";
import { didYouMean } from "./suggest.ts";

const argumentWords = {
  reproduce: async () => (await import("../studies/index.ts")).studies.map((study) => study.id),
  train: async () => (await import("../learn/env/index.ts")).envIds(),
  bench: async () => Object.keys(await (await import("./commands/bench.ts")).loadBenches()),
};

export function buildProgram(shell: Shell): Command {
  const program = new Command("coxswain")
    .description("A control plane that learns to run cloud systems, safely enough for production.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpCommand("help [command]", "explain a command")
    .showHelpAfterError(false)
    .addHelpText(
      "after",
      `${examples(
        ["coxswain up", "the control plane and its dashboard, against a simulated cluster"],
        ["coxswain demo", "watch an agent learn in this terminal, in under a minute"],
        ["coxswain doctor", "what this machine offers, and what is missing"],
        ["coxswain reproduce --list", "the experiments that can be run"],
      )}\n\nExit codes: 0 it worked, 1 it failed, 2 the command line or a setting is wrong, 3 a study's claim does not hold.`,
    );
  program
    .addCommand(upCommand(shell))
    .addCommand(demoCommand(shell))
    .addCommand(reproduceCommand(shell))
    .addCommand(trainCommand(shell))
    .addCommand(evaluateCommand(shell))
    .addCommand(pretrainCommand(shell))
    .addCommand(injectCommand(shell))
    .addCommand(traceCommand(shell))
    .addCommand(benchCommand(shell))
    .addCommand(doctorCommand(shell))
    .addCommand(configCommand(shell))
    .addCommand(completionCommand(shell))
    .addCommand(versionCommand(shell))
    .addCommand(completeCommand(shell, argumentWords), { hidden: true });
  // Without a command commander would print help as an error; a stranger's first try deserves the help, plainly.
  program.action((_options, self) => {
    const word = self.args[0];
    if (word === undefined) return self.outputHelp();
    const names = self.commands.map((command) => command.name());
    throw usageError(`unknown command '${word}'${didYouMean(word, names)}`, "coxswain --help lists the commands");
  });
  program.allowExcessArguments();
  prepare(program, shell);
  return program;
}

/** Every command throws instead of exiting and writes where the shell says. */
function prepare(command: { commands: readonly unknown[] } & Command, shell: Shell): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => shell.stdout.write(text),
    writeErr: (text) => shell.stderr.write(text),
    // The failure is reported once, by `run`, in our words.
    outputError: () => {},
    getOutHelpWidth: () => Math.min(shell.stdout.columns ?? 100, 120),
  });
  for (const child of command.commands) prepare(child as Command, shell);
}

export async function run(shell: Shell, args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = 0;
  const watched: Shell = {
    ...shell,
    exitWith: (wanted) => {
      code = wanted;
    },
  };
  const end = args.indexOf("--");
  const json = (end < 0 ? args : args.slice(0, end)).includes("--json");
  try {
    await buildProgram(watched).parseAsync(args, { from: "user" });
    return code;
  } catch (thrown) {
    // Help and version leave commander this way too.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    if (thrown instanceof CommanderError && thrown.code === "commander.help") return 2;
    if (shell.signal.aborted) return code;
    return reportFailure(shell, thrown, { json });
  }
}
