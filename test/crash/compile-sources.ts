/**
 * Sources as plain JavaScript for a child process: Node 20 does not read TypeScript, and a test must not run an older
 * build by accident. Types are erased file by file, which the compiler settings of this repository allow.
 */

import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Copies the folders, with tests left out, to a folder of their own where installed packages are found. */
export async function compileSources(folders: readonly string[]): Promise<string> {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const target = await mkdtemp(join(cache, "coxswain-test-"));
  await writeFile(join(target, "package.json"), '{"type":"module"}');
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      const { outputText } = ts.transpileModule(await readFile(join(root, folder, name), "utf8"), {
        fileName: name,
        compilerOptions: {
          target: ts.ScriptTarget.ES2022,
          module: ts.ModuleKind.ESNext,
          rewriteRelativeImportExtensions: true,
          verbatimModuleSyntax: true,
        },
      });
      const path = join(target, folder, name.replace(/\.ts$/, ".js"));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, outputText);
    }
  }
  return target;
}
