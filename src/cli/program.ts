/** All commands in one tree, and how one command line is run: parse, act, report. */

import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { agentCommand } from "./commands/agent.ts";
import { benchCommand } from "./commands/bench.ts";
import { examples } from "./commands/common.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { coordinatorCommand } from "./commands/coordinator.ts";
import { demoCommand } from "./commands/demo.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { envCommand } from "./commands/env.ts";
import { evaluateCommand } from "./commands/evaluate.ts";
import { injectCommand } from "./commands/inject.ts";
import { pretrainCommand } from "./commands/pretrain.ts";
import { reproduceCommand } from "./commands/reproduce.ts";
import { storeCommand } from "./commands/store.ts";
import { traceCommand } from "./commands/trace.ts";
import { trainCommand } from "./commands/train.ts";
import { upCommand } from "./commands/up.ts";
import { versionCommand } from "./commands/version.ts";
import { workerCommand } from "./commands/worker.ts";
import { knownEnvs } from "./environments/catalog.ts";
import { reportFailure, usageError } from "./failures.ts";
import { packageVersion } from "./package-info.ts";
import type { ExitCode, Shell } from "./shell.ts";
import { didYouMean } from "./suggest.ts";

const argumentWords = {
  reproduce: async () => {
    const { studies } = await import("../studies/index.ts");
    return studies.map(({ id }) => id);
  },
  train: async () => knownEnvs().map(({ id }) => id),
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
      )}\n\nExit codes: 0 it worked, 1 it failed, 2 the command line or a setting is wrong (also a name\nthat nothing has, a missing file or a weak token), 3 a study ran and a promise is not kept or a figure not\nreproduced.`,
    );
  program
    .addCommand(upCommand(shell))
    .addCommand(demoCommand(shell))
    .addCommand(reproduceCommand(shell))
    .addCommand(workerCommand(shell))
    .addCommand(trainCommand(shell))
    .addCommand(evaluateCommand(shell))
    .addCommand(pretrainCommand(shell))
    .addCommand(envCommand(shell))
    .addCommand(coordinatorCommand(shell))
    .addCommand(agentCommand(shell))
    .addCommand(storeCommand(shell))
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
  program.hook("preAction", (_program, command) => requireValues(command));
  prepare(program, shell);
  return program;
}

/** An empty path would be the working folder, and an empty address every address of this machine. */
function requireValues(command: CommandUnknownOpts): void {
  // A word that is not begun yet is what shells ask to have completed.
  if (command.name().startsWith("__")) return;
  const isEmpty = (value: unknown): boolean =>
    Array.isArray(value) ? value.some(isEmpty) : typeof value === "string" && value.trim() === "";
  const option = command.options.find((one) => isEmpty(command.getOptionValue(one.attributeName())));
  const argument = command.registeredArguments.find((_one, index) => isEmpty(command.processedArgs[index]));
  const named = option?.long ?? argument?.name();
  if (named === undefined) return;
  throw usageError(`${named} is given an empty value`, "write what is meant, or leave it out");
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
