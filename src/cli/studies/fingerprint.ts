/**
 * What a kept result depends on, as a short text: change any of it and the job runs again.
 * The study's config, its `runUnit`, the kernel set, the package's version, the kernels' bytes and every compiled file
 * that computes results (the pure folders; not this CLI, not reports, not plots).
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../adapters/runtime/index.ts";
import type { Study } from "../../studies/index.ts";

const COMPUTING_FOLDERS = ["base", "learn", "observe", "act", "sim", "control", "studies/aware", "adapters/runtime"];

let code: string | undefined;

/** The folder that holds `cli`, `learn` and the rest: `src` or `dist/src`. */
const sourceRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Of all that computes results, the kernels included. */
export function codeHash(): string {
  if (code !== undefined) return code;
  const hash = createHash("sha256");
  for (const folder of COMPUTING_FOLDERS) {
    const path = join(sourceRoot, folder);
    if (!existsSync(path)) continue;
    const files = readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(js|ts)$/.test(file) && !/\.(d|test)\.ts$/.test(file))
      .sort();
    for (const file of files) hash.update(`${folder}/${file}\n`).update(readFileSync(join(path, file)));
  }
  // The native set is built from the same source, so these bytes speak for both.
  hash.update(readFileSync(join(packageRoot(), "kernels", "kernels.wasm")));
  code = hash.digest("hex");
  return code;
}

export interface FingerprintParts {
  readonly study: Study;
  readonly config: unknown;
  readonly kernels: string;
  readonly version: string;
}

export function fingerprint({ study, config, kernels, version }: FingerprintParts): string {
  return createHash("sha256")
    .update(JSON.stringify([study.id, config, kernels, version, study.runUnit.toString(), codeHash()]))
    .digest("hex")
    .slice(0, 16);
}
