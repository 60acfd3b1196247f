/**
 * Once for all tests of this folder: the dashboard built from its sources, and beside it a copy of the program as a
 * package would lie on a disk, so that `coxswain up` serves this very build whatever else is being built meanwhile.
 * Needs dist/src (`npm run build`).
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildDashboard, root } from "./dashboard-page.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where bin/coxswain, dist/src and dashboard/dist lie. */
    readonly installed: string;
  }
}

export function setup(project: TestProject): () => void {
  if (!existsSync(join(root, "dist/src/cli/main.js")))
    throw new Error("dist/src is missing: run `npm run build` first, or the tests with `npm run test:browser`");
  const copy = mkdtempSync(join(tmpdir(), "coxswain-installed-"));
  cpSync(join(root, "bin"), join(copy, "bin"), { recursive: true });
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  cpSync(join(root, "dist/src"), join(copy, "dist/src"), {
    recursive: true,
    filter: (path) => !/\.(?:d\.ts|map)$/.test(path),
  });
  mkdirSync(join(copy, "docs"));
  for (const folder of ["kernels", "models", "node_modules", "docs/results"])
    symlinkSync(join(root, folder), join(copy, folder));
  buildDashboard({ results: join(root, "docs/results"), outDir: join(copy, "dashboard/dist") });
  project.provide("installed", copy);
  return () => rmSync(copy, { recursive: true, force: true });
}
