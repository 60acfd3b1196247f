/**
 * What the server needs from the control plane behind it.
 * Owns: the port. Not here: who implements it (cli/up: a simulated cluster on a thread of its own), and the documents
 * (plane-contract.ts).
 */
import type { Result } from "../base/index.ts";
import type { Command, PlaneUpdate, TrajectoryDocument } from "./plane-contract.ts";

export interface ControlPlane {
  readonly world: { readonly kind: string; readonly startedAt: number };
  /** Times the wall's speed, as it is now. */
  readonly speed: number;
  /** Every update from now on, in order, in portions; what went before comes first, as updates too. Returns the way out. */
  subscribe(take: (updates: readonly PlaneUpdate[]) => void): () => void;
  /**
   * `revision`: what the asker saw of the agent or workload; a newer one refuses with `plane.revision`. The answer is the
   * new revision.
   */
  command(
    command: Command,
    options: { readonly revision: number | null },
  ): Promise<Result<{ readonly revision: number }>>;
  trajectories(query: {
    readonly agent: string;
    readonly limit: number;
    readonly before: string | null;
  }): Promise<Result<{ readonly items: readonly TrajectoryDocument[]; readonly next: string | null }>>;
  /** Why it can not be relied on right now; empty when it can. */
  readiness(): readonly string[];
}
