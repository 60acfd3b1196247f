/**
 * Finds the addon that `npm run build:native` makes, and refuses one that does not fit this machine or these sources.
 * Not here: how its kernels are called (native-kernels.ts).
 */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { packageRoot } from "./package-root.ts";

type Kernel = Exclude<keyof Kernels, "name" | "memory">;

/** One kernel set inside the addon: every kernel takes its arguments from the memory it is bound to. */
type NativeSet = Record<Kernel, () => void> & { bind(memory: Uint8Array, argsAt: number): void };

export interface NativeAddon {
  /** Fingerprint of the sources it was compiled from, see kernels/sources.mjs. */
  readonly sourceHash: string;
  create(): NativeSet;
}

let vetted: Result<NativeAddon> | undefined;

/** The addon, or why it cannot be used here. Looked for once: a file that was refused stays refused in this process. */
export function findAddon(): Result<NativeAddon> {
  vetted ??= vetAddon(join(packageRoot(), "kernels", "build", "coxswain-kernels.node"));
  return vetted;
}

export function vetAddon(file: string): Result<NativeAddon> {
  if (!existsSync(file)) {
    return err(
      failure("kernels.native-absent", "the native kernels are not built; run 'npm run build:native' to have them"),
    );
  }
  if (process.arch === "x64" && !hasAvx2()) {
    return err(
      failure(
        "kernels.native-unfit",
        "this processor is not known to have AVX2, which the native kernels need; the wasm kernels serve instead",
      ),
    );
  }
  try {
    const addon = createRequire(import.meta.url)(file) as NativeAddon;
    if (addon.sourceHash === builtSources()) return ok(addon);
    return err(
      failure(
        "kernels.native-stale",
        "the native kernels were built from other sources than kernels.wasm, so their bits may differ; run 'npm run build:native' again",
      ),
    );
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    return err(
      failure(
        "kernels.native-unloadable",
        `the native kernels do not load (${why}); run 'npm run build:native' again`,
        {
          cause,
        },
      ),
    );
  }
}

/** Fingerprint of the sources that the committed kernels.wasm was built from. */
function builtSources(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), "kernels", "manifest.json"), "utf8"));
  return (manifest as { sources: string }).sources;
}

/** Node does not tell. Where the system does not either, the addon is not tried: an illegal instruction would kill. */
function hasAvx2(): boolean {
  if (process.platform !== "linux") return false;
  const flags = readFileSync("/proc/cpuinfo", "utf8").match(/^flags\s*:(.*)$/m)?.[1] ?? "";
  return flags.split(" ").includes("avx2");
}
