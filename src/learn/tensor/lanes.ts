/**
 * Two hands for one sequence: kernel calls that do not depend on each other may run at the same time.
 * Owns: the port, and its form for one thread. Not here: threads (adapters/runtime).
 *
 * A lane is a kernel set over the same memory as the first one. Calls on one lane run in their order; `join` returns when
 * all lanes are done. Who computes does not change what is computed: results are the same to the bit.
 */

import type { Kernels } from "./kernels.ts";

export interface KernelLanes {
  /** At least one. The first is the caller's own set, and its calls return when they are done. */
  readonly lanes: readonly Kernels[];
  join(): void;
}

/** All on the calling thread. */
export function singleLane(kernels: Kernels): KernelLanes {
  return { lanes: [kernels], join: () => {} };
}
