/**
 * Whether somebody may act on the simulated services, as a person has said it: what of that outlives the process.
 * Owns: the file and its check. Not here: acting (mitigator.ts), who said it (the audit log).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomically } from "../../../adapters/runtime/index.ts";
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { ActingMode } from "../../../server/index.ts";

export interface SavedActing {
  readonly mode: ActingMode;
  /** When a person chose it, by the wall; null where nobody has. */
  readonly since: number | null;
}

// Written out, because the server's own list would bring the whole server into this thread.
const modes = ["observe", "act"] as const satisfies readonly ActingMode[];
const saved = z.strictObject({ schema: z.literal(1), mode: z.enum(modes), since: z.number().nullable() });

const fileIn = (folder: string): string => join(folder, "services.json");

/** Acting is what it does unless somebody has said otherwise. What can not be read may have said so: then it only observes. */
export function readActing(folder: string | null): SavedActing & { readonly problem: string | null } {
  if (folder === null || !existsSync(fileIn(folder))) return { mode: "act", since: null, problem: null };
  try {
    const { mode, since } = saved.parse(JSON.parse(readFileSync(fileIn(folder), "utf8")));
    return { mode, since, problem: null };
  } catch {
    const problem = `${fileIn(folder)} can not be read, so nobody acts on the services until a person says so again`;
    return { mode: "observe", since: null, problem };
  }
}

/** On disk when it returns: who was told that nobody acts must find it so after a kill. */
export function writeActing(folder: string | null, { mode, since }: SavedActing): Result<void> {
  if (folder === null) return ok(undefined);
  try {
    writeFileAtomically(fileIn(folder), `${JSON.stringify({ schema: 1, mode, since })}\n`);
    return ok(undefined);
  } catch (cause) {
    const text = `the change is in force but could not be saved in ${fileIn(folder)}: make room there, then ask again`;
    return err(failure("services.not-saved", text, { cause }));
  }
}
