/**
 * What a person has said about services and what outlives the process: whether anybody may act on them, and the SLOs of
 * request types.
 * Owns: the file. Not here: its shape (contract/schemas/saved.ts), its envelope (adapters/runtime/kept-file.ts), acting
 * (mitigator.ts), who said it (the audit log), SLOs of a configuration file.
 */
import { join } from "node:path";
import { type KeptDocument, readKept, writeKept } from "../../../adapters/runtime/index.ts";
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import { type SavedServices, savedServicesSchema } from "../../../contract/schemas/index.ts";

const SERVICES: KeptDocument<SavedServices> = { format: "coxswain-services", version: 3, schema: savedServicesSchema };

const fileIn = (folder: string): string => join(folder, "services.json");

/** Acting is what it does unless somebody has said otherwise. What cannot be used may have said so, and is refused. */
export function readServices(folder: string | null): Result<SavedServices> {
  const read = folder === null ? ok(null) : readKept(fileIn(folder), SERVICES);
  if (read.ok) return ok(read.value ?? { mode: "act", since: null, sloMs: {} });
  const text = `${fileIn(folder ?? "")} cannot be used (${read.failure.message}), and may say that nobody is to act on the services; move it out of the way to begin again with acting, or give another folder with --data`;
  return err(failure("services.saved-state", text));
}

/** On disk when it returns: who was told that nobody acts must find it so after a kill. */
export function writeServices(folder: string | null, saved: SavedServices): Result<void> {
  if (folder === null) return ok(undefined);
  try {
    writeKept(fileIn(folder), saved, SERVICES);
    return ok(undefined);
  } catch (cause) {
    const text = `the change is in force but could not be saved in ${fileIn(folder)}: make room there, then ask again`;
    return err(failure("services.not-saved", text, { cause }));
  }
}
