/**
 * Folders that are written to: made where they are missing, and tried before long work begins.
 * Owns: the only safe way to make a path of folders. Not here: files in them (write-file.ts).
 */

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { CodedError, failure } from "../../base/index.ts";

/**
 * One level after the other. With `recursive`, Node never returns, and hears no signal, where a system says that the folder
 * above is missing although it is there, as /proc does.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (cause) {
    // Somebody else may have been faster.
    if (!existsSync(folder)) throw refused(folder, cause);
  }
}

/** Makes the folder and writes to it, so that one that cannot be used is said before the work and not after it. */
export function requireWritable(folder: string): void {
  makeFolder(folder);
  const probe = join(folder, `.writable-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    closeSync(openSync(probe, "wx"));
  } catch (cause) {
    throw refused(folder, cause);
  }
  rmSync(probe, { force: true });
}

/** "No such file" of a folder that is there says nothing to a reader; the others have words of their own. */
function refused(folder: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !("code" in cause) || cause.code !== "ENOENT") return cause;
  const text = `nothing can be written to ${folder}: its file system takes no files or folders there; name another folder`;
  return new CodedError(failure("file.unwritable", text, { cause }));
}
