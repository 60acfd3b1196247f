/**
 * What can be done to a workload, and the smallest action that leads from what is there to what is wanted.
 * Owns: allocations, the Action union, reconcile (by level, so that a second call changes nothing).
 * Not here: whether it may be done (guard.ts), doing it (adapters, through actuator.ts).
 */
import type { Bytes, Millicores, WorkloadId } from "../base/index.ts";
import { assertNever } from "../base/index.ts";

/** CPU and memory are limits of one replica. */
export interface Allocation {
  readonly replicas: number;
  readonly cpu: Millicores;
  readonly memory: Bytes;
}

export type Dimension = keyof Allocation;
export const dimensions: readonly Dimension[] = ["replicas", "cpu", "memory"];

export type Action =
  | { readonly kind: "hold"; readonly workload: WorkloadId }
  | { readonly kind: "scale"; readonly workload: WorkloadId; readonly replicas: number }
  | ({ readonly kind: "set-resources"; readonly workload: WorkloadId } & Omit<Allocation, "replicas"> & Followers)
  | ({ readonly kind: "reshape"; readonly workload: WorkloadId } & Allocation & Followers);

/** Pods that start later always get the new size. Which of the running ones follow now: these, or all when absent. */
export interface Followers {
  readonly pods?: readonly string[];
}

/**
 * Followers that are named make a resize even where the size asked for stays: it was set before, and these pods have not
 * got it yet. Names of pods that are gone, or have the size already, change nothing.
 */
export function reconcile(
  workload: WorkloadId,
  want: Allocation & { readonly [K in keyof Followers]?: Followers[K] | undefined },
  have: Allocation,
): Action {
  const { replicas, cpu, memory, pods } = want;
  const scales = replicas !== have.replicas;
  const resizes = cpu !== have.cpu || memory !== have.memory || (pods !== undefined && pods.length > 0);
  const followers: Followers = pods === undefined ? {} : { pods };
  if (scales && resizes) return { kind: "reshape", workload, replicas, cpu, memory, ...followers };
  if (scales) return { kind: "scale", workload, replicas };
  if (resizes) return { kind: "set-resources", workload, cpu, memory, ...followers };
  return { kind: "hold", workload };
}

/** What is there once the action has been done. */
export function afterAction(have: Allocation, action: Action): Allocation {
  switch (action.kind) {
    case "hold":
      return have;
    case "scale":
      return { ...have, replicas: action.replicas };
    case "set-resources":
      return { ...have, cpu: action.cpu, memory: action.memory };
    case "reshape":
      return { replicas: action.replicas, cpu: action.cpu, memory: action.memory };
    default:
      return assertNever(action);
  }
}
