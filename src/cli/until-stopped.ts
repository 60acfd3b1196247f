/** Waiting for Ctrl-C or SIGTERM, for commands that serve until then. */
import type { Shell } from "./shell.ts";

export function untilStopped({ signal }: Pick<Shell, "signal">): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
