/**
 * Picks the fastest kernel set this machine offers: native if it is built and fits, else wasm, else the reference.
 * Not here: the kernels themselves (kernels/ in C, learn/tensor/kernel-sets in TypeScript).
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError, err, failure, failureOf, ok, type Result, unwrap } from "../../base/index.ts";
import {
  compileKernels,
  type Kernels,
  referenceKernels,
  type WasmModule,
  wasmKernels,
} from "../../learn/tensor/index.ts";
import { findAddon } from "./native-addon.ts";
import { nativeKernels } from "./native-kernels.ts";
import { packageRoot } from "./package-root.ts";

export type KernelSetName = Kernels["name"];

const NAMES: readonly KernelSetName[] = ["native", "wasm", "reference"];

export interface LoadKernelsOptions {
  /** Begin the search at this set; what is better is passed over, what is missing falls through to the next. */
  readonly prefer?: KernelSetName;
  readonly initialMiB?: number;
}

/** A fresh set with its own memory. COXSWAIN_KERNELS names one set that must be used, whatever the caller prefers. */
export function loadKernels({ prefer = "native", initialMiB = 1 }: LoadKernelsOptions = {}): Kernels {
  const demanded = process.env.COXSWAIN_KERNELS;
  if (demanded) return unwrap(tryKernels(parseName(demanded), { initialMiB }));
  for (const name of NAMES.slice(NAMES.indexOf(prefer))) {
    const result = tryKernels(name, { initialMiB });
    if (result.ok) return result.value;
  }
  return referenceKernels({ initialMiB });
}

/** That very set, or why it cannot be had here. */
export function tryKernels(name: KernelSetName, { initialMiB = 1 }: { initialMiB?: number } = {}): Result<Kernels> {
  switch (name) {
    case "native": {
      const addon = findAddon();
      return addon.ok ? ok(nativeKernels(addon.value, { initialMiB })) : addon;
    }
    case "wasm":
      try {
        return ok(wasmKernels(wasmModule(), { initialMiB }));
      } catch (thrown) {
        const known = failureOf(thrown);
        if (known) return err(known);
        throw thrown;
      }
    case "reference":
      return ok(referenceKernels({ initialMiB }));
  }
}

let compiled: WasmModule | undefined;

/** Compiled once per thread; every set made from it has its own memory. */
function wasmModule(): WasmModule {
  compiled ??= compileKernels(readFileSync(join(packageRoot(), "kernels", "kernels.wasm")));
  return compiled;
}

function parseName(text: string): KernelSetName {
  const name = NAMES.find((known) => known === text);
  if (name) return name;
  throw new CodedError(
    failure(
      "kernels.unknown-set",
      `COXSWAIN_KERNELS is '${text.slice(0, 40)}'; set it to native, wasm or reference, or unset it`,
    ),
  );
}
