/**
 * Two hands for one sequence: kernel calls that do not depend on each other may run at the same time.
 * Owns: the port, and its form for one thread. Not here: threads (adapters/runtime).
 *
 * A lane is a kernel set over one common memory. Calls on one lane run in their order; `join` returns when all lanes are
 * done, and until then nothing may be allocated in that memory. Who computes does not change what is computed: results
 * are the same to the bit.
 */

import type { Kernels } from "./kernels.ts";

export interface KernelLanes {
  /**
   * At least one. The last is the caller's own set, whose calls return when they are done; calls on the others return at
   * once. So hand out work in the order of the lanes, the caller's own share last.
   */
  readonly lanes: readonly Kernels[];
  join(): void;
}

/** All on the calling thread. */
export function singleLane(kernels: Kernels): KernelLanes {
  return { lanes: [kernels], join: () => {} };
}
