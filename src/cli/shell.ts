/**
 * What a command may touch of the outside: its streams, its environment, its signal, its exit code.
 * Data goes to `stdout`, everything else to `stderr`. Passed in rather than taken, so that a test can watch it.
 */

import type { Logger } from "pino";

/** 0 it worked; 1 it failed; 2 the command line or the configuration was not understood; 3 a promise or a reproduction of a study does not hold. */
export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143;

/** The part of a Node stream that commands use. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export interface Shell {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal;
  /** Milliseconds that never go back. */
  now(): number;
  exitWith(code: ExitCode): void;
  /** A thread is stuck in native work: the process has to end without stopping it. */
  leaveThreads?(): void;
}

/** A shell once the configuration is known. */
export interface Session extends Shell {
  readonly log: Logger;
}

export function printJson(shell: Shell, value: unknown): void {
  shell.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printLine(shell: Shell, text = ""): void {
  shell.stdout.write(`${text}\n`);
}

/** For people: what is going on, never data. */
export function note(shell: Shell, text: string): void {
  shell.stderr.write(`${text}\n`);
}

/** NO_COLOR wins over FORCE_COLOR, both over what the stream is (no-color.org, force-color.org). */
export function hasColour(shell: Shell, sink: Sink): boolean {
  if (shell.env.NO_COLOR) return false;
  if (shell.env.FORCE_COLOR && shell.env.FORCE_COLOR !== "0") return true;
  return sink.isTTY === true && shell.env.TERM !== "dumb";
}

/** Whether lines may be drawn over: a real terminal and nobody who asked for plain text. */
export function isLive(shell: Shell, sink: Sink): boolean {
  return sink.isTTY === true && shell.env.TERM !== "dumb" && !shell.env.CI;
}
