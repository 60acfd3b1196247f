/**
 * Structured logs: JSON lines on standard error, a constant message plus fields.
 * Pure code returns reasons and never logs; only the shell does.
 */

import { type Logger, pino, stdTimeFunctions } from "pino";
import type { Sink } from "./shell.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Field names whose values never reach a log, at the top and one level down. */
const SECRET_FIELDS = ["password", "token", "secret", "apiKey", "authorization", "cookie"];

export function createLogger({ level, sink }: { readonly level: LogLevel; readonly sink: Sink }): Logger {
  return pino(
    {
      level,
      // Host and process id are the supervisor's knowledge; a name of the program is ours.
      base: { app: "coxswain" },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[redacted]" },
    },
    { write: (line: string) => sink.write(line) },
  );
}
