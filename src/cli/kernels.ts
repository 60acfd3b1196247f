/** The kernel set that the settings ask for: a named one or none at all, "auto" the fastest there is. */

import { type KernelSetName, loadKernels, tryKernels } from "../adapters/runtime/index.ts";
import { unwrap } from "../base/index.ts";

export type KernelChoice = "auto" | KernelSetName;

export function openKernels(choice: KernelChoice): ReturnType<typeof loadKernels> {
  return choice === "auto" ? loadKernels() : unwrap(tryKernels(choice));
}
