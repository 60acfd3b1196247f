/**
 * What a folder has kept of a plane: its saved state and its history.
 * Owns: opening both together, the same for the plane of pods and for that of services. Not here: the files
 * (saved-plane-file.ts, history-files.ts), stores and agents' states (whoever opens the plane).
 */
import type { Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { PlaneParts } from "../../plane/index.ts";
import { emptyHistory } from "../../plane/index.ts";
import { openHistory } from "./history-files.ts";
import { readPlane, writePlane } from "./saved-plane-file.ts";

export type KeptPast = Pick<PlaneParts, "saved" | "saves" | "history">;

export const noPast: KeptPast = { saved: null, saves: null, history: emptyHistory };

export function pastIn(folder: string): Result<KeptPast> {
  const read = readPlane(folder);
  if (!read.ok) return read;
  const history = openHistory(folder);
  if (!history.ok) return history;
  return ok({
    saved: read.value,
    saves: { write: (plane) => writePlane(folder, plane) },
    history: history.value,
  });
}
