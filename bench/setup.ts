/**
 * Makes peers available: compiles the C references, finds or creates the Python environment, finds or installs the
 * Node packages. Each answers with what to start, or with one sentence on why the peer is absent and what to do.
 * Downloads happen only when the caller allows them; compiling the C references needs no permission, only a compiler.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../src/adapters/runtime/index.ts";
import type { Command } from "./contender.ts";
import { cacheFolder, packageRoot } from "./places.ts";
import type { BenchContext } from "./report.ts";

const run = promisify(execFile);

/** The version every figure is taken against; a newer one is a deliberate change here. */
const TORCH = "2.15.0";
const NODE_PEERS = { "onnxruntime-node": "1.30.0", "pure-rand": "8.4.2" } as const;
export type NodePeer = keyof typeof NODE_PEERS;

export type Availability<T> = { readonly found: T } | { readonly absent: string };

export interface SetupOptions {
  readonly allowDownloads: boolean;
  readonly log: (text: string) => void;
  readonly signal: AbortSignal;
}

/** What the run allows: by the flag, or by COXSWAIN_BENCH_PEERS=install where no flag can be given. */
export function setupOptions({ setupPeers = false, log, signal }: BenchContext): SetupOptions {
  return { allowDownloads: setupPeers || process.env.COXSWAIN_BENCH_PEERS === "install", log, signal };
}

// The limit of the machine: its own vectors, fused multiply-add, no rules about errno, traps or infinities.
const RELAXED = ["-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-ffinite-math-only"];
const FLAGS = ["-O3", "-march=native", "-std=gnu11", ...RELAXED];
const HEADERS = ["matrix.h", "line-protocol.h"];

/** Compiles bench/native/<name>.c unless the cache has it for these very sources and flags. */
export async function nativeProgram(name: string, { log, signal }: SetupOptions): Promise<Availability<Command>> {
  const sources = join(packageRoot(), "bench", "native");
  const file = join(sources, `${name}.c`);
  if (!existsSync(file)) return { absent: `the C reference ${name}: its source is not part of this installation` };
  const hash = createHash("sha256").update(FLAGS.join(" "));
  for (const part of [`${name}.c`, ...HEADERS]) hash.update(await readFile(join(sources, part)));
  const program = join(cacheFolder(), "native", `${name}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(program)) return { found: { program, args: [] } };
  makeFolder(join(cacheFolder(), "native"));
  const draft = `${program}.${process.pid}`;
  const compilers = [process.env.CC, "gcc", "clang", "cc"].filter((c): c is string => Boolean(c));
  let why = "";
  for (const compiler of compilers) {
    try {
      log(`compiling ${name}.c with ${compiler}`);
      await run(compiler, [...FLAGS, file, "-o", draft, "-lm"], { signal });
      await rename(draft, program);
      return { found: { program, args: [] } };
    } catch (error) {
      signal.throwIfAborted();
      if (!isMissingProgram(error)) why = tellingLine(error);
    }
  }
  return {
    absent: why
      ? `the C reference ${name}: it does not compile here (${why})`
      : `the C reference ${name}: no C compiler found; install gcc or clang, or set CC`,
  };
}

/** The Python of an environment that has PyTorch: COXSWAIN_BENCH_PYTHON, or one of our own in the cache. */
export async function pythonWithTorch({ allowDownloads, log, signal }: SetupOptions): Promise<Availability<string>> {
  const own = join(cacheFolder(), "torch");
  const ready = join(own, `ready-${TORCH}`);
  const named = process.env.COXSWAIN_BENCH_PYTHON;
  if (named) {
    const problem = await importProblem(named, signal);
    return problem === undefined
      ? { found: named }
      : { absent: `PyTorch: COXSWAIN_BENCH_PYTHON names a Python without it (${problem})` };
  }
  const python = join(own, "bin", "python");
  if (existsSync(ready) && (await importProblem(python, signal)) === undefined) return { found: python };
  if (!allowDownloads) {
    return {
      absent: "PyTorch: not installed; run again with --setup-peers (a download of about 2 GB into the cache folder)",
    };
  }
  try {
    log(`creating a Python environment with PyTorch ${TORCH} (once; this takes minutes)`);
    await rm(own, { recursive: true, force: true });
    await run("python3", ["-m", "venv", own], { signal });
    await installTorch(python, signal);
    const problem = await importProblem(python, signal);
    if (problem !== undefined) return { absent: `PyTorch: installed, but it does not load (${problem})` };
    await writeFile(ready, "");
    return { found: python };
  } catch (error) {
    signal.throwIfAborted();
    const why = isMissingProgram(error) ? "python3 is not installed" : tellingLine(error);
    return { absent: `PyTorch: the Python environment could not be made (${why})` };
  }
}

/** The build without CUDA is a tenth of the size but lives on PyTorch's own index; the general one works as well. */
async function installTorch(python: string, signal: AbortSignal): Promise<void> {
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  const room = { signal, maxBuffer: 64 * 1024 * 1024 };
  await run(python, [...pip, "numpy"], room);
  try {
    const lean = ["--retries", "0", "--timeout", "15", "--index-url", "https://download.pytorch.org/whl/cpu"];
    await run(python, [...pip, ...lean, `torch==${TORCH}`], room);
  } catch {
    signal.throwIfAborted();
    await run(python, [...pip, `torch==${TORCH}`], room);
  }
}

async function importProblem(python: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    await run(python, ["-c", "import torch, numpy"], { signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return tellingLine(error);
  }
}

/** The folder whose node_modules holds the package. */
export async function nodePeer(
  name: NodePeer,
  { allowDownloads, log, signal }: SetupOptions,
): Promise<Availability<string>> {
  const folder = join(cacheFolder(), "node");
  const version = NODE_PEERS[name];
  if ((await installedVersion(folder, name)) === version) return { found: folder };
  if (!allowDownloads) return { absent: `${name}: not installed; run again with --setup-peers` };
  try {
    log(`installing ${name} ${version} into the cache folder (once)`);
    makeFolder(folder);
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) await writeFile(manifest, '{ "name": "coxswain-bench-peers", "private": true }\n');
    // Its install script would download GPU libraries from elsewhere; the processor part is in the package.
    const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" };
    await run("npm", ["install", "--save-exact", "--no-audit", "--no-fund", `${name}@${version}`], {
      cwd: folder,
      env,
      signal,
    });
    return { found: folder };
  } catch (error) {
    signal.throwIfAborted();
    return { absent: `${name}: could not be installed (${tellingLine(error)})` };
  }
}

async function installedVersion(folder: string, name: string): Promise<string | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
    return (manifest as { version?: string }).version;
  } catch {
    return undefined;
  }
}

function isMissingProgram(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ENOENT";
}

/** The most telling line of a failed command: the last one of what it wrote to standard error. */
function tellingLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const lines = (stderr || message || String(error)).trim().split("\n");
  return (stderr ? lines.at(-1) : lines[0])?.slice(0, 200) ?? "unknown reason";
}
