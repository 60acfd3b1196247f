/**
 * The demonstration's cluster: its nodes, how large a workload may be there, and what the guard allows.
 * Owns: these settings. Not here: the workloads (demo-workloads.ts), the worlds (worlds.ts).
 */
import type { GuardLimits } from "../../act/index.ts";
import { parseGuardLimits } from "../../act/index.ts";
import { mebibytes, millicores, minutes, ratio, seconds, unwrap } from "../../base/index.ts";
import type { NodeSpec } from "../../sim/index.ts";

export const PROCESSOR = "xeon-e5";

export const bounds: GuardLimits["bounds"] = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};

const atOnce = { up: seconds(0), down: seconds(0) };

/** As wide as the steps of HPA and VPA, which bring rules of their own: the guard is not to decide who does better. */
export const guardLimits: GuardLimits = unwrap(
  parseGuardLimits({
    bounds,
    step: {
      replicas: { absolute: bounds.replicas.max, relative: ratio(10) },
      cpu: { absolute: bounds.cpu.max, relative: ratio(10) },
      memory: { absolute: bounds.memory.max, relative: ratio(10) },
    },
    cooldown: { replicas: atOnce, cpu: atOnce, memory: atOnce },
    disruption: { replicas: 1_000, window: minutes(10) },
  }),
);

const FEW = 4;

/** Room for all at their largest, 48 cores each, and for the loss of a node. */
export function nodesFor(workloads: number): readonly NodeSpec[] {
  // Many workloads get larger nodes, not as many more: every decision looks at all of them.
  const [count, cores] = workloads <= FEW ? [16, 16] : [workloads + 2, 64];
  return Array.from({ length: count }, (_, i) => ({
    name: `node-${i}`,
    cpu: millicores(1_000 * cores),
    memory: mebibytes(4 * 1_024 * cores),
    processor: PROCESSOR,
  }));
}
