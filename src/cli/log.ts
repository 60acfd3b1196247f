/**
 * Structured logs on standard error, a constant message plus fields: JSON lines for programs, readable ones on a terminal.
 * Pure code returns reasons and never logs; only the shell does. Not here: how a readable line looks (log-text.ts).
 */

import { type Logger, pino, stdTimeFunctions } from "pino";
import { readableLine } from "./log-text.ts";
import type { Sink } from "./shell.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["auto", "text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Field names whose values never reach a log, at the top and one level down. */
const SECRET_FIELDS = ["password", "token", "secret", "apiKey", "authorization", "cookie"];

/** Whether people read what is written there. */
export const isForPeople = (format: LogFormat, sink: Sink): boolean =>
  format === "auto" ? sink.isTTY === true : format === "text";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly sink: Sink;
  readonly format?: LogFormat;
  /** Of readable lines; JSON has none. */
  readonly hasColour?: boolean;
}

export function createLogger({ level, sink, format = "auto", hasColour = false }: LoggerOptions): Logger {
  const line = isForPeople(format, sink) ? readableLine({ hasColour }) : (json: string) => json;
  return pino(
    {
      level,
      // Host and process id are the supervisor's knowledge; a name of the program is ours.
      base: { app: "coxswain" },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[redacted]" },
    },
    { write: (json: string) => sink.write(line(json)) },
  );
}
