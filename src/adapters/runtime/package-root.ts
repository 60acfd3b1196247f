/** Where this package lies on disk, whether it runs from sources (tests) or compiled (dist/). */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let found: string | undefined;

/** The folder that holds package.json and kernels/. */
export function packageRoot(): string {
  if (found) return found;
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "kernels", "kernels.wasm"))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new Error("kernels/kernels.wasm is missing: the installation of coxswain is incomplete");
    folder = parent;
  }
  found = folder;
  return folder;
}
