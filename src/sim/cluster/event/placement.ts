/**
 * Which node a pod goes to.
 * Owns: what nodes have and hold, the choice (most room left after it, as Kubernetes' LeastAllocated scores it).
 * Not here: when a pod is placed (rollout.ts).
 */
import type { NodeRoom } from "../../../act/index.ts";
import { bytes, millicores } from "../../../base/index.ts";
import type { NodeSpec } from "../processors.ts";

export interface PodSize {
  /** Millicores and bytes. */
  readonly cpu: number;
  readonly memory: number;
}

export interface NodeState {
  readonly spec: NodeSpec;
  /** Requests are equal to limits, so what is held is the sum of limits. */
  cpuHeld: number;
  memoryHeld: number;
  /** Applications whose image it has pulled. */
  readonly images: Set<string>;
  /** Gone, with all that ran on it: nothing is placed there until it returns. */
  isLost: boolean;
}

export const emptyNode = (spec: NodeSpec): NodeState => ({
  spec,
  cpuHeld: 0,
  memoryHeld: 0,
  images: new Set(),
  isLost: false,
});

const nothing: PodSize = { cpu: 0, memory: 0 };

/** Whether a pod would fit if nothing else were there. */
export const couldHold = ({ spec }: NodeState, size: PodSize): boolean =>
  size.cpu <= spec.cpu && size.memory <= spec.memory;

/** Whether a pod fits, in the place of another that is there already. */
export function hasRoom(node: NodeState, size: PodSize, instead: PodSize = nothing): boolean {
  return (
    !node.isLost &&
    node.cpuHeld - instead.cpu + size.cpu <= node.spec.cpu &&
    node.memoryHeld - instead.memory + size.memory <= node.spec.memory
  );
}

export function hold(node: NodeState, size: PodSize): void {
  node.cpuHeld += size.cpu;
  node.memoryHeld += size.memory;
}

export function release(node: NodeState, size: PodSize): void {
  node.cpuHeld -= size.cpu;
  node.memoryHeld -= size.memory;
}

export function chooseNode(nodes: readonly NodeState[], size: PodSize): NodeState | undefined {
  let best: NodeState | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const node of nodes) {
    if (!hasRoom(node, size)) continue;
    const cpuLeft = 1 - (node.cpuHeld + size.cpu) / node.spec.cpu;
    const memoryLeft = 1 - (node.memoryHeld + size.memory) / node.spec.memory;
    const score = cpuLeft + memoryLeft;
    if (score > bestScore) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

/** What nodes have for one workload: all, less what others hold there. */
export function roomFor(
  nodes: readonly NodeState[],
  own: readonly { readonly node: NodeState | undefined; readonly held: PodSize }[],
): NodeRoom[] {
  // There are few nodes and few pods: going through the pods for each node is sooner done than sums by node.
  return nodes.map((node) => {
    if (node.isLost) return { cpu: millicores(0), memory: bytes(0) };
    let cpu = 0;
    let memory = 0;
    for (const pod of own) {
      if (pod.node !== node) continue;
      cpu += pod.held.cpu;
      memory += pod.held.memory;
    }
    return {
      cpu: millicores(node.spec.cpu - node.cpuHeld + cpu),
      memory: bytes(node.spec.memory - node.memoryHeld + memory),
    };
  });
}
