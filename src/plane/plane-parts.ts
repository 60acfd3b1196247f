/**
 * What a plane is made of: a world, what is managed there, and the ports for all that is kept.
 * Owns: the types. Not here: opening any of it (cli/up).
 */
import type { Ms } from "../base/index.ts";
import type { PlaneUpdate } from "../contract/index.ts";
import type { SavedPlane } from "../contract/schemas/index.ts";
import type { LoopEvent, LoopStatus, StateStore, Trainer, TurnWatcher } from "../control/loop/index.ts";
import type { TrajectoryStore } from "../learn/trajectory/index.ts";
import type { History } from "./history.ts";
import type { PlaneSaves } from "./saved-plane.ts";
import type { Target } from "./target.ts";
import type { World } from "./world.ts";

export interface PlaneParts {
  readonly seed: number;
  readonly world: World;
  readonly targets: readonly Target[];
  /** Every agent has one turn in it, and at its end all are measured. */
  readonly controlStep: Ms;
  readonly saved: SavedPlane | null;
  /** null: nothing is kept. */
  readonly saves: PlaneSaves | null;
  readonly history: History;
  /** Times the wall's; limits of calls follow it. */
  readonly speed: number;
  readonly store: TrajectoryStore;
  readonly twinStore: TrajectoryStore;
  readonly mostRecords: number;
  readonly states: StateStore;
  readonly twinStates: StateStore;
  readonly trainer: Trainer;
  /** The world waits for training, so that the same seed gives the same updates. */
  readonly isLockstep: boolean;
  /** Resolves when no training is under way. */
  idle(): Promise<void>;
  /** Resolves when every promise that could go on has gone on: a turn of the event loop. */
  settle(): Promise<void>;
}

/** The plane's own condition, for those who operate it. */
export interface PlaneWatcher {
  readonly watcher: TurnWatcher | undefined;
  note(events: readonly LoopEvent[]): void;
  /** What there is to tell beside the plane's own updates; `world` is its time, `wall` any clock's milliseconds. */
  updates(status: LoopStatus, at: { readonly world: number; readonly wall: number }): readonly PlaneUpdate[];
}
