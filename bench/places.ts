/**
 * Where the bench finds its sources and keeps what it builds or downloads.
 * Everything made goes to the user's cache folder (XDG), never into the checkout or the package.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of package.json: this file may run from bench/ or from dist/bench/. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("the bench cannot find its package.json above itself");
    folder = parent;
  }
  return folder;
}

/** Programs, Python environment and Node packages of the peers. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(base, "coxswain", "bench");
}
