/** What the engine's tests have in common: the kernel sets to run on, random blocks, and one notion of "close". */

import { expect } from "vitest";
import { tryKernels } from "../../src/adapters/runtime/index.ts";
import { unwrap } from "../../src/base/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";

interface RandomSource {
  normal(): number;
}

/**
 * Every kernel set that this machine has. Wasm and the reference are everywhere; native only where it was built, and
 * with COXSWAIN_REQUIRE_NATIVE (npm run test:native) its absence is an error.
 */
export const sets: readonly { readonly name: Kernels["name"]; readonly make: () => Kernels }[] = (
  ["reference", "wasm", "native"] as const
)
  .filter((name) => name !== "native" || process.env.COXSWAIN_REQUIRE_NATIVE || tryKernels(name).ok)
  .map((name) => ({ name, make: () => unwrap(tryKernels(name)) }));

/** Standard normal numbers, rounded to float32 so that engine and oracle begin with the very same ones. */
export function randomBlock(count: number, rng: RandomSource): Float32Array {
  return Float32Array.from({ length: count }, () => rng.normal());
}

/** Within `tolerance`, absolute below 1 and relative above. */
export function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  let worst = 0;
  let at = -1;
  for (let i = 0; i < wanted.length; i++) {
    const error = Math.abs(found[i]! - wanted[i]!) / Math.max(1, Math.abs(wanted[i]!));
    if (error <= worst) continue;
    worst = error;
    at = i;
    // NaN is further off than anything, and must not be forgotten at the next element.
    if (Number.isNaN(error)) break;
  }
  const where = at < 0 ? "" : `at ${at}: found ${found[at]}, wanted ${wanted[at]}`;
  expect(worst, where).toBeLessThanOrEqual(tolerance);
}
