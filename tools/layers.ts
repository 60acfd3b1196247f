/**
 * `npm run layers`: holds the tree to the import table in layers.json.
 * Owns: finding the sources, the proof that every one of them was really read, the report.
 * Not here: what the table means (layer-rules.ts).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cruise, type ICruiseResult, type IModule } from "dependency-cruiser";
import { type LayerTable, layerRules, moduleOf } from "./layer-rules.ts";

const ROOTS = ["src", "bench", "test", "tools", "examples", "dashboard/src"];

function sourcesBelow(root: string): string[] {
  const found: string[] = [];
  for (const folder of ROOTS.filter((name) => existsSync(join(root, name)))) {
    for (const item of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(item.parentPath, item.name).slice(root.length + 1);
      if (item.isFile() && /\.tsx?$/.test(item.name) && !path.includes("node_modules/")) found.push(path);
    }
  }
  return found.sort();
}

type Cruised = Pick<IModule, "source" | "dependencies">;

export interface LayerReport {
  readonly files: number;
  readonly problems: readonly string[];
}

/**
 * A cruiser without a compiler it knows reads nothing and reports no violation, so "none" is believed only when every
 * source was read and imports were seen.
 */
export function readingProblems(sources: readonly string[], modules: readonly Cruised[]): string[] {
  const read = new Set(modules.map(({ source }) => source));
  const problems = sources.filter((file) => !read.has(file)).map((file) => `${file}: was not read by the layer check`);
  if (!modules.some(({ dependencies }) => dependencies.length > 0))
    problems.push("no import was found in any file: the layer check did not work");
  return problems;
}

/** Cruises the tree at `root`, an absolute path. */
export async function checkLayers(root: string): Promise<LayerReport> {
  const table = JSON.parse(readFileSync(join(root, "tools/layers.json"), "utf8")) as LayerTable;
  const sources = sourcesBelow(root);
  const problems: string[] = [];

  for (const file of sources) {
    const folders = file.split("/").slice(0, -1);
    const refused = folders.find((name) => table.folderNamesRefused.includes(name));
    if (refused !== undefined)
      problems.push(`${file}: a folder may not be called "${refused}"; name it for what it holds`);
    if (folders[0] === "src" && moduleOf(file, table) === undefined)
      problems.push(`${file}: belongs to no module of tools/layers.json; add the module there or move the file`);
  }

  const { output } = await cruise(
    sources,
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: layerRules(table) },
      tsPreCompilationDeps: true,
      doNotFollow: { path: "node_modules" },
      exclude: { path: "^dist/" },
    },
    {
      extensions: [".ts", ".tsx", ".js", ".mjs", ".json", ".node"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
    },
  );
  const { modules, summary } = output as ICruiseResult;
  for (const { from, to, rule, cycle } of summary.violations) {
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(" → ");
    const why = layerRules(table).find(({ name }) => name === rule.name)?.comment ?? rule.name;
    problems.push(`${from} → ${way}: ${why}`);
  }

  problems.push(...readingProblems(sources, modules));
  return { files: sources.length, problems };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { files, problems } = await checkLayers(process.cwd());
  for (const problem of problems) console.error(problem);
  console.log(`layers: ${files} files, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
