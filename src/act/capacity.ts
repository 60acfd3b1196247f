/**
 * Whether replicas of a size find room on the nodes.
 * Owns: the count that fits. Not here: which node a replica goes to (the scheduler's business).
 */
import type { Bytes, Millicores } from "../base/index.ts";
import type { Allocation } from "./action.ts";

/** What a node has for this workload: allocatable, less what others hold there. */
export interface NodeRoom {
  readonly cpu: Millicores;
  readonly memory: Bytes;
}

/** Replicas are not divided between nodes, so room on two nodes is less than their sum. */
export function replicasThatFit(
  { cpu, memory }: Pick<Allocation, "cpu" | "memory">,
  nodes: readonly NodeRoom[],
): number {
  const perNode = nodes.map((node) => Math.min(wholeTimes(node.cpu, cpu), wholeTimes(node.memory, memory)));
  return perNode.reduce((sum, count) => sum + count, 0);
}

function wholeTimes(room: number, size: number): number {
  // A node whose figures are missing or odd has no room that one could rely on.
  if (!(room >= 0)) return 0;
  return size > 0 ? Math.floor(room / size) : Number.POSITIVE_INFINITY;
}

export const fitsOn = (allocation: Allocation, nodes: readonly NodeRoom[]): boolean =>
  replicasThatFit(allocation, nodes) >= allocation.replicas;
