/**
 * `npm run build:native`: compiles the same kernels as an optional addon for Node, where a C compiler and Node's headers
 * exist. It gives the same bits as kernels.wasm, faster, and is picked up by itself; nothing ever requires it.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bridge, exactFlags, here, sourceHash, units } from "./sources.mjs";

const folder = fileURLToPath(here);

function findCompiler() {
  const wanted = process.env.CC ? [process.env.CC] : ["gcc", "clang", "cc"];
  return wanted.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
}

function findHeaders() {
  const home = process.env.npm_config_nodedir ?? process.env.NODEDIR;
  const version = process.versions.node;
  const places = [
    ...(home ? [join(home, "include", "node")] : []),
    join(dirname(process.execPath), "..", "include", "node"),
    ...(process.config.variables.node_prefix ? [join(process.config.variables.node_prefix, "include", "node")] : []),
    "/usr/include/node",
    "/usr/local/include/node",
    join(homedir(), ".cache", "node-gyp", version, "include", "node"),
  ];
  return places.find((place) => existsSync(join(place, "node_api.h")));
}

/** Vectors of 256 bits without fused multiply-add: fusing would change the bits. */
function machineFlags() {
  return process.arch === "x64" ? ["-mavx2", "-mno-fma"] : [];
}

function stop(sentence) {
  process.stderr.write(`the native kernels were not built: ${sentence}\n`);
  process.exit(1);
}

if (process.platform === "win32")
  stop("this build knows gcc and clang on Linux and macOS only; kernels.wasm serves here");
const compiler = findCompiler();
if (!compiler) stop("no C compiler was found; install gcc or clang (or set CC), or keep using kernels.wasm");
const headers = findHeaders();
if (!headers) {
  stop(
    "Node's headers (node_api.h) were not found; install them (Debian: libnode-dev) or set NODEDIR to Node's folder",
  );
}

const target = join(folder, "build", "coxswain-kernels.node");
mkdirSync(dirname(target), { recursive: true });
// Under another name first: a process that has the old addon loaded keeps it, and no one sees half a file.
const fresh = `${target}.${process.pid}`;
const built = spawnSync(
  compiler,
  [
    ...exactFlags,
    ...machineFlags(),
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
    `-DSOURCE_HASH="${sourceHash()}"`,
    `-I${headers}`,
    ...(process.platform === "darwin" ? ["-undefined", "dynamic_lookup"] : []),
    ...[...units, ...bridge].map((name) => join(folder, name)),
    "-o",
    fresh,
  ],
  { stdio: "inherit" },
);
if (built.status !== 0) {
  rmSync(fresh, { force: true });
  stop(`${compiler} gave up, see its words above`);
}
renameSync(fresh, target);
process.stdout.write(`kernels/build/coxswain-kernels.node: built by ${compiler} for ${process.arch}\n`);
