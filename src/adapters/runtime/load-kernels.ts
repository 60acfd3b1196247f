/**
 * Picks the fastest kernel set this machine offers.
 * Not here: the kernels themselves (kernels/ in C, learn/tensor/kernel-sets in TypeScript).
 */

import { type Kernels, referenceKernels } from "../../learn/tensor/index.ts";

/** A fresh set with its own memory. */
export function loadKernels(_options: { prefer?: Kernels["name"] } = {}): Kernels {
  return referenceKernels();
}
