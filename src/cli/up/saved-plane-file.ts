/**
 * The file of what survives of a plane: the world's time, settings, accounts, and what people have set.
 * Owns: the file. Not here: its folder (data-folder.ts), its shape (contract/schemas/saved.ts), its envelope
 * (adapters/runtime/kept-file.ts), the agents' own state
 * (control/loop's StateStore), what was measured and told (history-files.ts).
 */
import { join } from "node:path";
import { type KeptDocument, readKept, writeKept } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { SavedPlane } from "../../contract/schemas/index.ts";
import { savedPlaneSchema } from "../../contract/schemas/index.ts";

const fileIn = (folder: string) => join(folder, "plane.json");

const PLANE: KeptDocument<SavedPlane> = { format: "coxswain-plane", version: 4, schema: savedPlaneSchema };

/** null where the folder has none yet. What is there and cannot be used is refused, never overwritten. */
export function readPlane(folder: string): Result<SavedPlane | null> {
  const file = fileIn(folder);
  const read = readKept(file, PLANE);
  return read.ok ? read : refused(file, read.failure.message);
}

function refused(file: string, why: string) {
  return err(
    failure(
      "plane.saved-state",
      `${file} cannot be used (${why}); move it out of the way to begin again, or give another folder with --data`,
    ),
  );
}

/** On disk when it returns. */
export function writePlane(folder: string, plane: SavedPlane): Result<void> {
  try {
    writeKept(fileIn(folder), plane, PLANE);
    return ok(undefined);
  } catch (cause) {
    return dataUnwritable(folder, cause);
  }
}

export function dataUnwritable(folder: string, cause: unknown) {
  const words = cause instanceof Error ? cause.message : String(cause);
  return err(
    failure(
      "plane.data-unwritable",
      `the folder ${folder} cannot be written (${words}); give another one with --data, or --data :memory: to keep nothing`,
      { cause },
    ),
  );
}
