/**
 * What a kept result depends on, as a short text: change any of it and the job runs again.
 * The study's config, its `runUnit`, the kernel set, the package's version, the kernels' bytes and every compiled file
 * that computes results (the pure folders; not this CLI, not reports, not plots).
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../adapters/runtime/index.ts";
import type { Study } from "../../studies/index.ts";

const COMPUTING_FOLDERS = [
  "base",
  "learn",
  "observe",
  "act",
  "sim",
  "control",
  "pretraining",
  "studies/aware",
  "studies/firm",
  "adapters/runtime",
];

const hashes = new Map<string, string>();

/** The folder that holds `cli`, `learn` and the rest: `src` or `dist/src`. */
const sourceRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Of all that computes results, or of these parts of it; the kernels included. */
export function codeHash(parts: readonly string[] = COMPUTING_FOLDERS): string {
  const name = parts.join(" ");
  const known = hashes.get(name);
  if (known !== undefined) return known;
  const hash = createHash("sha256");
  for (const part of parts) {
    for (const file of filesOf(part))
      hash.update(`${part}/${file}\n`).update(readFileSync(join(sourceRoot, part, file)));
  }
  // The native set is built from the same source, so these bytes speak for both.
  hash.update(readFileSync(join(packageRoot(), "kernels", "kernels.wasm")));
  const code = hash.digest("hex");
  hashes.set(name, code);
  return code;
}

/** Of a folder all that is compiled, or of a name in a folder the one file with that name. */
function filesOf(part: string): readonly string[] {
  const path = join(sourceRoot, part);
  const found = existsSync(path)
    ? readdirSync(path, { recursive: true, encoding: "utf8" }).filter((file) => !/\.(d|test)\.ts$/.test(file))
    : [".js", ".ts"].filter((end) => existsSync(path + end)).map((end) => `../${basename(part)}${end}`);
  const files = found.filter((file) => /\.(js|ts)$/.test(file)).sort();
  // Renamed and forgotten here, code would change without anybody computing anew.
  if (files.length === 0) throw new RangeError(`there is no code at ${part}`);
  return files;
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
