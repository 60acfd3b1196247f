/**
 * What of the plane itself survives a restart.
 * Owns: the port that keeps it. Not here: its shape (contract/schemas), the file (cli/up), the agents' own state
 * (control/loop's StateStore, agent-notes.ts), what was measured and told (history.ts).
 */
import type { Result } from "../base/index.ts";
import type { SavedPlane } from "../contract/schemas/index.ts";

export type SavedWorkload = SavedPlane["workloads"][string];

export interface PlaneSaves {
  /** On disk when it returns. */
  write(plane: SavedPlane): Result<void>;
}
