/** What this installation is: its version, its commit when it is a checkout, the machine it runs on. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../adapters/runtime/index.ts";

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string }).version;
}

const CHANGES = "+changes";

/** The commit, marked when files differ from it; "unknown" outside a checkout. */
export function gitCommit(): string {
  if (!existsSync(join(packageRoot(), ".git"))) return "unknown";
  try {
    const commit = git("rev-parse", "HEAD").trim();
    const isClean = git("status", "--porcelain", "--untracked-files=no").trim() === "";
    return isClean ? commit : `${commit}${CHANGES}`;
  } catch {
    return "unknown";
  }
}

export function hasChanges(commit: string): boolean {
  return commit.endsWith(CHANGES);
}

/** For people: twelve digits, and still whether files differ. */
export function shortCommit(commit: string): string {
  return commit.replace(/^([0-9a-f]{12})[0-9a-f]*/, "$1");
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: packageRoot(), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

export function cpuModel(): string {
  const all = cpus();
  return `${all[0]?.model.trim() ?? "unknown"} × ${all.length}`;
}
