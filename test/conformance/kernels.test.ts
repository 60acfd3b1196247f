/**
 * One conformance suite for all kernel sets. The native set is included where `npm run build:native` has made it;
 * with COXSWAIN_REQUIRE_NATIVE=1 (CI, after building it) its absence is a failure.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageRoot, tryKernels } from "../../src/adapters/runtime/index.ts";
import { unwrap } from "../../src/base/index.ts";
import { ACT, NULL, type Ptr } from "../../src/learn/tensor/index.ts";
import { fingerprint } from "./kernels/agreement.ts";
import { denseSuite } from "./kernels/dense.ts";
import { elementwiseSuite } from "./kernels/elementwise.ts";
import type { Subject } from "./kernels/harness.ts";
import { memorySuite } from "./kernels/memory.ts";
import { optimisersSuite } from "./kernels/optimisers.ts";
import { recurrentSuite } from "./kernels/recurrent.ts";
import { rowsSuite } from "./kernels/rows.ts";

const subject = (name: Subject["name"]): Subject => ({ name, make: () => unwrap(tryKernels(name)) });
const hasNative = tryKernels("native").ok;
const subjects = [subject("reference"), subject("wasm"), ...(hasNative ? [subject("native")] : [])];

describe.each(subjects)("$name kernels", (set) => {
  test("say their name", () => {
    expect(set.make().name).toBe(set.name);
  });
  denseSuite(set);
  elementwiseSuite(set);
  rowsSuite(set);
  recurrentSuite(set);
  optimisersSuite(set);
  memorySuite(set);
});

// Changes only when a kernel's arithmetic changes on purpose; then every seed's results change with it, and the
// changelog says so.
const GOLDEN = "4906789406a6833924d87b8b8e0b3586d3a7fb8edb4735d10372019b13cfc55c";

describe("the same bits everywhere", () => {
  test.each(subjects.filter((s) => s.name !== "reference"))("$name computes the recorded bits", (set) => {
    expect(fingerprint(set.make())).toBe(GOLDEN);
  });
});

describe("native kernels", () => {
  test("are there where they are required", () => {
    const native = tryKernels("native");
    if (process.env.COXSWAIN_REQUIRE_NATIVE === "1") expect(native).toMatchObject({ ok: true });
    else if (!native.ok) expect(native.failure.code).toMatch(/^kernels\.native-/);
  });

  if (!hasNative) return;

  test("refuse an operand beyond the memory instead of crashing", () => {
    const { axpy, memory } = subject("native").make();
    const inside = memory.alloc(8);
    expect(() => axpy(inside, (memory.f32.length * 4 - 16) as Ptr, 8, 1)).toThrow(/beyond the tensor memory/);
  });

  test("refuse to do without an operand that they need, and go on working", () => {
    const { axpy, linearForward, memory } = subject("native").make();
    const block = memory.alloc(8);
    for (const call of [
      () => axpy(NULL, block, 8, 1),
      () => axpy(block, NULL, 8, 1),
      () => linearForward(block, NULL, NULL, block, 1, 2, 2, ACT.none),
    ]) {
      expect(call).toThrow(/operand is NULL that may not be/);
    }
    memory.view(block, 8).fill(1);
    axpy(block, block, 8, 2);
    expect([...memory.view(block, 8)]).toEqual(new Array(8).fill(3));
  });
});

describe("kernels.wasm", () => {
  test("is built from the sources beside it", async () => {
    const folder = join(packageRoot(), "kernels");
    const { sha256, sourceHash } = (await import(join(folder, "sources.mjs"))) as {
      sha256: (bytes: Uint8Array) => string;
      sourceHash: () => string;
    };
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    expect(
      { sources: sourceHash(), "kernels.wasm": sha256(readFileSync(join(folder, "kernels.wasm"))) },
      "run 'npm run build:wasm' and commit the result",
    ).toEqual(manifest);
  });
});
