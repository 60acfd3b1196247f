/**
 * Turns seen from outside, for traces and timings.
 * Owns: the port, and that a watcher which throws costs a turn nothing but the watcher's own account of it.
 * Not here: what is made of it (adapters/observability). Where nobody watches, a turn pays for one comparison per phase.
 */
import type { Setting } from "../../act/index.ts";
import type { AgentId, Result, WorkloadId } from "../../base/index.ts";
import type { AgentTick } from "./ports.ts";

/** In the order of a turn. `restore` only in an agent's first one, `actuate` only where there is something to do. */
export const turnPhases = ["restore", "read", "tick", "actuate", "record"] as const;
export type TurnPhase = (typeof turnPhases)[number];

export interface TurnWatcher {
  begin(agent: AgentId, workload: WorkloadId): WatchedTurn;
}

/** One turn. Called in the turn itself, so it must be quick. */
export interface WatchedTurn {
  /** A phase begins, and the one before it is over. */
  enter(phase: TurnPhase): void;
  /** The last phase is over. No tick: the agent crashed. Nothing applied: there was nothing to do. */
  end(tick: AgentTick | undefined, applied: Result<Setting> | null): void;
}

export function beginWatched(
  watcher: TurnWatcher | undefined,
  { agent, workload }: { readonly agent: AgentId; readonly workload: WorkloadId },
): WatchedTurn | undefined {
  if (watcher === undefined) return undefined;
  try {
    return watcher.begin(agent, workload);
  } catch {
    // It has no place to complain to but itself, and the turn has better things to do.
    return undefined;
  }
}

export function enter(turn: WatchedTurn | undefined, phase: TurnPhase): void {
  if (turn === undefined) return;
  try {
    turn.enter(phase);
  } catch {
    // As above.
  }
}

export function endWatched(
  turn: WatchedTurn | undefined,
  tick: AgentTick | undefined,
  applied: Result<Setting> | null,
): void {
  if (turn === undefined) return;
  try {
    turn.end(tick, applied);
  } catch {
    // As above.
  }
}
