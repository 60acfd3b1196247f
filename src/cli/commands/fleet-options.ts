/** Options that `coxswain agent` and `coxswain coordinator` share: a settings file of their own, logs, kernels. */

import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { createLogger, LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../log.ts";
import { hasColour, type Session, type Shell } from "../shell.ts";
import { withJson } from "./common.ts";

export const withFleetFile = <A extends unknown[], O extends OptionValues>(command: Command<A, O>, what: string) =>
  withJson(command)
    .requiredOption("--config <file>", what)
    .addOption(
      new Option("--log-level <level>", "least level of log lines on standard error")
        .choices(LOG_LEVELS)
        .default("info" as const),
    )
    .addOption(
      new Option("--log-format <format>", "readable lines or JSON; auto: readable on a terminal")
        .choices(LOG_FORMATS)
        .default("auto" as const),
    )
    .addOption(
      new Option("--kernels <set>", "kernel set that computes")
        .choices(["auto", "native", "wasm", "reference"] as const)
        .default("auto" as const),
    );

export function fleetSession(
  shell: Shell,
  { logLevel, logFormat }: { readonly logLevel: LogLevel; readonly logFormat: LogFormat },
): Session {
  return {
    ...shell,
    log: createLogger({
      level: logLevel,
      format: logFormat,
      sink: shell.stderr,
      hasColour: hasColour(shell, shell.stderr),
    }),
  };
}
