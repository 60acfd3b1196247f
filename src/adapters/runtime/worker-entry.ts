/**
 * Where a worker thread's entry file lies.
 * Node 20 runs JavaScript only, so a thread that is started from sources (under the test runner) begins at the compiled
 * file in dist/; `npm test` builds first.
 */

import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CodedError, failure } from "../../base/index.ts";
import { packageRoot } from "./package-root.ts";

/** The compiled form of `./name.ts` beside the module whose `import.meta.url` is given. */
export function workerEntry(name: `./${string}.ts`, beside: string): URL {
  const source = new URL(name, beside);
  const wanted = new URL(source.href.replace(/\.ts$/, ".js"));
  const file = isSource(beside) ? compiledFile(fileURLToPath(wanted)) : fileURLToPath(wanted);
  if (existsSync(file)) return pathToFileURL(file);
  throw new CodedError(
    failure(
      "threads.entry-missing",
      `the worker's compiled file ${relative(packageRoot(), file)} is missing; run 'npm run build'`,
    ),
  );
}

const isSource = (url: string): boolean => url.endsWith(".ts");

function compiledFile(file: string): string {
  const root = packageRoot();
  const inside = relative(root, file);
  return inside.startsWith(`dist${sep}`) ? file : join(root, "dist", inside);
}
