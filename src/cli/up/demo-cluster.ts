/**
 * The demonstration's cluster: its nodes, how large a workload may be there, and what the guard allows.
 * Owns: these settings. Not here: the workloads (demo-workloads.ts), the worlds (simulated-world.ts).
 */
import type { GuardLimits } from "../../act/index.ts";
import { bytes, mebibytes, millicores, unwrap } from "../../base/index.ts";
import type { PodBounds } from "../../control/tasks/pods/index.ts";
import { profileLimits } from "../../control/tasks/pods/index.ts";
import type { NodeSpec } from "../../sim/index.ts";

export const PROCESSOR = "xeon-e5";

export const bounds: PodBounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};

/** What every workload's guard keeps unless its owner asks for something else, for learner and rules alike. */
export const guardLimits: GuardLimits = unwrap(profileLimits({ bounds }));

const FEW = 4;

const LARGE_CORES = 64;
const BYTES_PER_CORE = mebibytes(4 * 1_024);

/** Room for all at their largest, and for the loss of a node. */
export function nodesFor(workloads: readonly { readonly bounds: PodBounds }[]): readonly NodeSpec[] {
  const coresOf = ({ replicas, cpu, memory }: PodBounds) =>
    replicas.max * Math.max(cpu.max / 1_000, memory.max / BYTES_PER_CORE);
  const needed = workloads.reduce((sum, one) => sum + coresOf(one.bounds), 0);
  const isSmall = workloads.length <= FEW && needed <= FEW * coresOf(bounds);
  // Many workloads get larger nodes, not as many more: every decision looks at all of them.
  const [count, cores] = isSmall ? [16, 16] : [Math.ceil(needed / coresOf(bounds)) + 2, LARGE_CORES];
  return Array.from({ length: count }, (_, i) => ({
    name: `node-${i}`,
    cpu: millicores(1_000 * cores),
    memory: bytes(BYTES_PER_CORE * cores),
    processor: PROCESSOR,
  }));
}
