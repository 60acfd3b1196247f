/**
 * Code in the documentation is code: `ts` blocks are compiled against the package as its users import it, and `sh`
 * blocks marked `runnable` are run. A block that cannot stand alone is not marked `ts`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Page, splitFences } from "./markdown.ts";

/** Made inside the repository, or `coxswain/…` would not resolve to the sources. */
const FOLDER = "artifacts/docs-code-";
const RUN_LIMIT_MS = 120_000;

export interface CodeReport {
  readonly compiled: number;
  readonly ran: number;
  readonly problems: readonly string[];
}

export function checkCode(root: string, pages: readonly Page[]): CodeReport {
  const types = compileBlocks(root, pages);
  const shell = runBlocks(root, pages);
  return { compiled: types.count, ran: shell.count, problems: [...types.problems, ...shell.problems] };
}

function compileBlocks(root: string, pages: readonly Page[]): { count: number; problems: string[] } {
  mkdirSync(join(root, dirname(FOLDER)), { recursive: true });
  const folder = mkdtempSync(join(root, FOLDER));
  try {
    return compileIn(folder, { root, pages });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compileIn(
  folder: string,
  { root, pages }: { root: string; pages: readonly Page[] },
): { count: number; problems: string[] } {
  const origin = new Map<string, { path: string; line: number }>();
  for (const page of pages) {
    for (const { info, line, body } of splitFences(page.text).fences) {
      if (info.split(/\s/)[0] !== "ts") continue;
      const name = `${page.path.replace(/[^a-z0-9]+/gi, "-")}-${line}.ts`;
      origin.set(name, { path: page.path, line });
      writeFileSync(join(folder, name), `${body}export {};\n`);
    }
  }
  if (origin.size === 0) return { count: 0, problems: [] };
  const settings = {
    extends: "../../tsconfig.json",
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
  });
  const problems: string[] = [];
  for (const message of run.stdout.split("\n")) {
    const found = /([^/\\]+\.ts)\((\d+),\d+\): (.*)$/.exec(message);
    const block = found?.[1] === undefined ? undefined : origin.get(found[1]);
    if (block !== undefined && found !== null)
      problems.push(`${block.path}:${block.line + Number(found[2]) - 1}: ${found[3]}`);
    else if (/error TS/.test(message)) problems.push(message);
  }
  if (run.status !== 0 && problems.length === 0) problems.push(`the compiler failed: ${run.stdout}${run.stderr}`);
  return { count: origin.size, problems };
}

function runBlocks(root: string, pages: readonly Page[]): { count: number; problems: string[] } {
  const problems: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const { info, line, body } of splitFences(page.text).fences) {
      if (info !== "sh runnable") continue;
      count += 1;
      const run = spawnSync("bash", ["-euo", "pipefail", "-c", body], {
        cwd: root,
        encoding: "utf8",
        timeout: RUN_LIMIT_MS,
        stdio: ["ignore", "pipe", "pipe"],
      });
      if (run.status !== 0) {
        const end = `${run.stdout}${run.stderr}`.trimEnd().split("\n").slice(-5).join("\n  ");
        problems.push(`${page.path}:${line}: ended with ${run.status ?? run.signal}:\n  ${end}`);
      }
    }
  }
  return { count, problems };
}
