/**
 * The folder of everything that `up` keeps, for its owner alone.
 * Owns: where it is by default, that it can be written, and its modes. Not here: the files in it.
 */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { requireWritable } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import { dataUnwritable } from "./saved-plane-file.ts";

/** Whether the folder can be written at all, before anything begins. */
export function prepareFolder(folder: string): Result<void> {
  try {
    requireWritable(folder);
    return ok(undefined);
  } catch (cause) {
    return dataUnwritable(folder, cause);
  }
}

/** Where the user's programs keep what they need to go on (XDG base directories). */
export function defaultFolder(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(base, "coxswain");
}

const OTHERS = 0o077;

/**
 * From now on nobody else can read what this process makes, whoever in it makes it: databases make their files themselves.
 * Returns the way back.
 */
export function keepForOwner(): () => void {
  // It is the whole process's, and other threads may not set it.
  if (!isMainThread) return () => undefined;
  const before = process.umask(OTHERS);
  return () => process.umask(before);
}

/** What `up` makes in its folder; a folder that somebody else uses too is not looked through. */
const OURS =
  /^(?:plane\.json|services\.json|audit\.jsonl|agents|twin|history|spans|services|(?:trajectories|traces)\.duckdb(?:\.wal)?)$/;

export interface Tightened {
  /** Files and folders that others could read or write until now. */
  readonly closed: number;
  /** Those that still can be: they belong to somebody else. */
  readonly open: readonly string[];
}

/** What an earlier version, or a copy, left readable for others. */
export function tightenFolder(folder: string): Tightened {
  const open: string[] = [];
  let closed = 0;
  const visit = (path: string, children: (name: string) => boolean): void => {
    const { mode, isFolder } = modeOf(path);
    if (mode !== undefined && (mode & OTHERS) !== 0) {
      try {
        chmodSync(path, mode & 0o700);
        closed += 1;
      } catch {
        open.push(path);
      }
    }
    if (!isFolder) return;
    for (const name of readdirSync(path)) if (children(name)) visit(join(path, name), () => true);
  };
  visit(folder, (name) => OURS.test(name));
  return { closed, open };
}

/** A link's own mode says nothing, and where it leads is not ours. */
function modeOf(path: string): { readonly mode: number | undefined; readonly isFolder: boolean } {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return { mode: undefined, isFolder: false };
  return { mode: found.mode & 0o777, isFolder: found.isDirectory() };
}
