/**
 * What can be done to a managed workload, and the smallest action that leads from what is there to what is wanted.
 * Owns: the Action union, reconcile (by level, so that a second call changes nothing).
 * Not here: whether it may be done (guard.ts), doing it (adapters, through actuator.ts).
 */
import type { WorkloadId } from "../base/index.ts";
import type { Setting } from "./knob.ts";

/** A workload may have many members (copies of a program, containers): those that take the new values now; all where absent. */
export interface Followers {
  readonly followers?: readonly string[];
}

export type Action<S extends Setting = Setting> =
  | { readonly kind: "hold"; readonly workload: WorkloadId }
  /** What is left out stays as it is. */
  | ({ readonly kind: "set"; readonly workload: WorkloadId; readonly set: Partial<S> } & Followers);

/**
 * Followers that are named make an action even where every value stays: it was set before, and these members have not got
 * it yet. Names of members that are gone, or have the values already, change nothing.
 */
export function reconcile<S extends Setting>(
  workload: WorkloadId,
  { setting, followers }: { readonly setting: S; readonly followers?: readonly string[] | undefined },
  have: S,
): Action<S> {
  let set: Partial<Record<string, number>> | undefined;
  // A loop over keys: every tick of every agent passes here, and entries cost several times as much.
  for (const name in setting) {
    if (setting[name] === have[name]) continue;
    set ??= {};
    set[name] = setting[name];
  }
  if (set === undefined && (followers === undefined || followers.length === 0)) return { kind: "hold", workload };
  const changed = (set ?? {}) as Partial<S>;
  return followers === undefined
    ? { kind: "set", workload, set: changed }
    : { kind: "set", workload, set: changed, followers };
}

/** What is there once the action has been done. */
export function afterAction<S extends Setting>(have: S, action: Action<S>): S {
  return action.kind === "hold" ? have : { ...have, ...action.set };
}
