/** A file that appears whole or not at all: it is written beside its place, forced to disk and renamed. */

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** Makes the folder too where it is missing. */
export function writeFileAtomically(file: string, content: string | Uint8Array): void {
  makeFolder(dirname(file));
  const beside = `${file}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const handle = openSync(beside, "w");
    try {
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(beside, file);
  } catch (thrown) {
    rmSync(beside, { force: true });
    throw thrown;
  }
  syncFolder(dirname(file));
}

/** A name is part of its folder: without this a power cut may bring the old file back. */
export function syncFolder(folder: string): void {
  // Windows opens no folders; there the rename itself is all that can be asked for.
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
