/**
 * Schemathesis, which makes requests from an OpenAPI document: fetched from PyPI once, of one version.
 * Owns: where it is kept, and why it cannot be had. Not here: what it is pointed at (api.test.ts).
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const VERSION = "4.32.5";
const run = promisify(execFile);
const LIMIT = { timeout: 240_000, maxBuffer: 2 ** 26 };

export type Tool = { readonly path: string } | { readonly why: string };

/** In the user's cache, so that it is fetched once; a fetch that failed leaves nothing. */
export async function schemathesis(): Promise<Tool> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "coxswain-tests");
  const home = join(cache, `schemathesis-${VERSION}`);
  const path = join(home, "bin", "schemathesis");
  const done = join(home, "installed");
  if (existsSync(done)) return { path };
  try {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    await run("python3", ["-m", "venv", home], LIMIT);
    await run(join(home, "bin", "pip"), ["install", "--quiet", `schemathesis==${VERSION}`], LIMIT);
    mkdirSync(done);
    return { path };
  } catch (thrown) {
    rmSync(home, { recursive: true, force: true });
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    return { why: `schemathesis ${VERSION} cannot be had from PyPI: ${words.trim().split("\n").at(-1)}` };
  }
}

export interface Finished {
  readonly code: number;
  readonly output: string;
}

export async function runTool(path: string, args: readonly string[], cwd: string): Promise<Finished> {
  try {
    const { stdout, stderr } = await run(path, args, { cwd, maxBuffer: LIMIT.maxBuffer });
    return { code: 0, output: stdout + stderr };
  } catch (thrown) {
    const { code, stdout, stderr } = thrown as { code?: unknown; stdout?: string; stderr?: string };
    return { code: typeof code === "number" ? code : -1, output: `${stdout ?? String(thrown)}${stderr ?? ""}` };
  }
}
