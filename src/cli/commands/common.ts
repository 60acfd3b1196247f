/** What every command shares: its common options, and the session it opens from them. */

import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { type AlgorithmName, algorithmNames, tunedFor } from "../../learn/rl/index.ts";
import { type Config, configSchema, type FlagValue, type LoadedConfig, loadConfig } from "../config/index.ts";
import { createLogger, LOG_FORMATS, LOG_LEVELS } from "../log.ts";
import { hasColour, type Session, type Shell } from "../shell.ts";

/** `--json` is on every command; the others belong to those that read settings. */
export const withJson = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command.option("--json", "print one JSON document on standard output, and failures as JSON on standard error");

export const withSettings = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  withJson(command)
    .option("--config <file>", "settings in YAML or JSON (else COXSWAIN_CONFIG, ./coxswain.yaml, the user's own)")
    .addOption(new Option("--log-level <level>", "least level of log lines on standard error").choices(LOG_LEVELS))
    .addOption(
      new Option("--log-format <format>", "readable lines or JSON; auto: readable on a terminal").choices(LOG_FORMATS),
    )
    .addOption(
      new Option("--kernels <set>", "kernel set that computes").choices([
        "auto",
        "native",
        "wasm",
        "reference",
      ] as const),
    );

/** For commands that take environments, learners and tasks of the user's own. */
export const withModules = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command.option("--module <file...>", "load environments, learners and worlds of your own from these modules");

export const moduleFlag = ({ module }: { readonly module?: readonly string[] | true | undefined }): FlagValue => ({
  path: ["modules"],
  flag: "--module",
  value: module,
});

export interface SettingsOptions {
  readonly config?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly logFormat?: string | undefined;
  readonly kernels?: string | undefined;
}

export interface OpenedSession {
  readonly session: Session;
  readonly loaded: LoadedConfig<Config>;
  readonly config: Config;
}

/** Flags over environment over file over defaults; what looks like a misspelt variable is told once. */
export function openSession(shell: Shell, options: SettingsOptions, flags: readonly FlagValue[] = []): OpenedSession {
  const load = (tuned?: { readonly by: string; readonly value: unknown }) =>
    loadConfig({
      schema: configSchema,
      env: shell.env,
      cwd: shell.cwd,
      file: options.config,
      flags: [
        { path: ["log", "level"], flag: "--log-level", value: options.logLevel },
        { path: ["log", "format"], flag: "--log-format", value: options.logFormat },
        { path: ["runtime", "kernels"], flag: "--kernels", value: options.kernels },
        ...flags,
      ],
      tuned,
    });
  // The task and the algorithm decide which defaults fit, so they are read first and everything again on top of those.
  const { task, algo } = load().config.train;
  const name = algorithmNames.find((known) => known === algo);
  const loaded = load(name && tunedSettings(task, name));
  const log = createLogger({
    level: loaded.config.log.level,
    format: loaded.config.log.format,
    sink: shell.stderr,
    hasColour: hasColour(shell, shell.stderr),
  });
  for (const stranger of loaded.strangers) log.warn({ found: stranger }, "unknown environment variable");
  return { session: { ...shell, log }, loaded, config: loaded.config };
}

function tunedSettings(task: string, algo: AlgorithmName) {
  const { algorithm, totalSteps } = tunedFor(task, algo);
  return { by: `${algo} on ${task}`, value: { train: { steps: totalSteps, [algo]: algorithm.config } } };
}

/** Help reads the same everywhere: what it does, then lines to copy. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return ["", "Examples:", ...lines.map(([command, what]) => `  ${command.padEnd(width)}   ${what}`)].join("\n");
}
