/**
 * What the kernels are built from, and the fingerprint that ties a built file to its sources.
 * Both builds use it, and so do the test that refuses a stale kernels.wasm and the loader that refuses a stale addon.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export const here = new URL("./", import.meta.url);

/** Compiled into both targets. */
export const units = ["gemm.c", "linear.c", "elementwise.c", "rows.c", "gru.c", "lstm.c", "optim.c"];
const headers = ["kernels.h", "gemm.h", "pack.h", "recurrent.h", "tile.h", "vec.h", "vmath.h"];
/** The bridge to Node, in the addon only. */
export const bridge = ["addon.c"];

/** Flags that decide about bits: the same for both targets. */
export const exactFlags = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno"];

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** One hash over the names and texts of all sources and the flags that decide about bits. */
export function sourceHash() {
  const hash = createHash("sha256");
  for (const name of [...units, ...headers, ...bridge]) {
    // Line ends are made equal, so that a checkout with another convention has the same fingerprint.
    hash.update(`${name}\n${readFileSync(new URL(name, here), "utf8").replaceAll("\r\n", "\n")}\n`);
  }
  hash.update(exactFlags.join(" "));
  return hash.digest("hex");
}

/** The texts of the wasm build's inputs by name. */
export function wasmInputs() {
  return Object.fromEntries([...units, ...headers].map((name) => [name, readFileSync(new URL(name, here), "utf8")]));
}
