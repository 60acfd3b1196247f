/**
 * What the server needs from the control plane behind it.
 * Owns: the port. Not here: who implements it (cli/up: a simulated cluster on a thread of its own), and the documents
 * (plane.ts).
 */
import type { Result } from "../base/index.ts";
import type { Command, TrajectoryDocument, WorldDocument } from "./plane.ts";
import type { PlaneUpdate } from "./updates.ts";

export type ManagedWorld = Omit<WorldDocument, "at">;

export type TakeUpdates = (updates: readonly PlaneUpdate[]) => void;

export interface SubscribeOptions {
  /** Takes what was told before a restart, as soon as it is known; the first who asks alone gets it, for it is large. */
  readonly past?: TakeUpdates;
}

export interface ControlPlane {
  /** As they are now, the cluster's first; their times follow from what is measured. */
  readonly worlds: readonly ManagedWorld[];
  /**
   * Every update from now on, in order, in portions; what went before in this run comes first, as updates too. Returns the
   * way out.
   */
  subscribe(take: TakeUpdates, options?: SubscribeOptions): () => void;
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
  readiness(): Readiness;
}

/** Both are shown to whoever asks, without a token: no paths, no names, no data. */
export interface Readiness {
  /** Why it cannot be relied on right now; empty when it can. */
  readonly reasons: readonly string[];
  /** What was lost, or does not work and nothing else depends on. */
  readonly notes: readonly string[];
}
