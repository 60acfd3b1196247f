/**
 * Where the process begins and ends: the real streams, signals and exit.
 * Nothing else in the program calls `process.exit` or listens to signals.
 */

import { run } from "./program.ts";
import type { ExitCode, Shell, Sink } from "./shell.ts";

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

export async function main(argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", onStreamError);
  const controller = new AbortController();
  let stoppedBy: ExitCode | undefined;
  let isThreadStuck = false;
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      // The first asks for a clean end, the second does not ask: the signal does what it does where nobody listens.
      // `process.exit` would stop threads in the middle of native work, and some libraries abort the process for that.
      if (stoppedBy !== undefined) return endBySignal(name);
      stoppedBy = SIGNAL_EXIT[name];
      controller.abort(new DOMException(`stopped by ${name}`, "AbortError"));
    });
  }
  const shell: Shell = {
    stdout: process.stdout as Sink,
    stderr: process.stderr as Sink,
    env: process.env,
    cwd: process.cwd(),
    signal: controller.signal,
    now: () => performance.now(),
    exitWith() {},
    leaveThreads() {
      isThreadStuck = true;
    },
  };
  const code = await run(shell, argv.slice(2));
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  if (isThreadStuck) return endBySignal(stoppedBy === SIGNAL_EXIT.SIGINT ? "SIGINT" : "SIGTERM");
  // Explicit, because a library's idle thread or handle must not keep a finished command alive.
  process.exit(stoppedBy ?? code);
}

/** At once and with nothing tidied up: what the signal does where nobody listens, which is no success either. */
function endBySignal(name: keyof typeof SIGNAL_EXIT): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}

/** `coxswain … | head` closes our output early: that is the reader's good right, not an error. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EOF") process.exit(0);
  throw error;
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write("", () => resolve());
  });
}
