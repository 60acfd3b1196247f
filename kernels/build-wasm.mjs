/**
 * `npm run build:wasm`: compiles the kernels to WebAssembly SIMD with the clang that comes from npm (a development
 * dependency; no compiler on the machine is used), and records the fingerprints in manifest.json. The same sources give
 * the same bytes on every machine. Commit kernels.wasm and manifest.json together with the changed sources.
 */

import { writeFileSync } from "node:fs";
import { commands } from "@yowasp/clang";
import { exactFlags, here, sha256, sourceHash, units, wasmInputs } from "./sources.mjs";

const compile = [
  "--target=wasm32",
  "-nostdlib",
  ...exactFlags,
  "-msimd128",
  "-mbulk-memory",
  "-Wall",
  "-Wextra",
  "-Werror",
];
const link = [
  "--no-entry",
  "--stack-first", // an overflow of the small stack traps instead of reaching data
  "-z",
  "stack-size=65536",
  "--max-memory=2147483648", // pointers stay positive as 32-bit integers, see memory.ts
  "--export=__heap_base",
  "--strip-all",
];

const decoder = new TextDecoder();
let complaints = "";
const listen = (bytes) => {
  if (bytes) complaints += decoder.decode(bytes);
};
const options = { stdout: listen, stderr: listen, fetchProgress: () => {} };

/** The compiler runs inside WebAssembly and can not start a linker itself: one unit at a time, then the linker. */
async function build() {
  const objects = {};
  for (const unit of units) {
    const object = unit.replace(".c", ".o");
    const files = await commands.clang([...compile, "-c", unit, "-o", object], wasmInputs(), options);
    objects[object] = files[object];
  }
  const args = [...link, ...Object.keys(objects), "-o", "kernels.wasm"];
  return (await commands["wasm-ld"](args, objects, options))["kernels.wasm"];
}

try {
  const wasm = await build();
  const manifest = { sources: sourceHash(), "kernels.wasm": sha256(wasm) };
  writeFileSync(new URL("kernels.wasm", here), wasm);
  writeFileSync(new URL("manifest.json", here), `${JSON.stringify(manifest, null, 2)}\n`);
  process.stdout.write(`${complaints}kernels.wasm: ${wasm.length} bytes, sha256 ${manifest["kernels.wasm"]}\n`);
} catch (error) {
  process.stderr.write(`${complaints || error}\nthe wasm kernels were not built: see the compiler's words above\n`);
  process.exitCode = 1;
}
