/**
 * Runs the built CLI as its users do: a process of its own, its real exit code, its real streams.
 * COXSWAIN_BIN names another executable to test, such as one installed from a packed tarball.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const executable: string =
  process.env.COXSWAIN_BIN ?? join(fileURLToPath(new URL("../..", import.meta.url)), "bin", "coxswain");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** Sees the process while it runs, to send it signals. */
  readonly whileRunning?: (child: ChildProcess) => void;
}

export function runCli(args: readonly string[], { cwd, env = {}, whileRunning }: CliOptions): Promise<Ended> {
  const child = spawn(process.execPath, [executable, ...args], { cwd, env: cleanEnv(env) });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => err.push(text));
  whileRunning?.(child);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout: out.join(""), stderr: err.join("") }));
  });
}

/** The user's own settings must not reach into a test. */
export function cleanEnv(added: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("COXSWAIN_") && name !== "FORCE_COLOR");
  return { ...Object.fromEntries(kept), XDG_CONFIG_HOME: "/nonexistent", ...added };
}
