/** The lint settings are code too: each rule the conventions rely on must catch its planted mistake, and only there. */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const copy = temporaryFolder("lint");

beforeAll(() => {
  for (const file of ["tsconfig.json", "package.json"]) copyFileSync(join(root, file), join(copy, file));
  // Without the ignore file, which needs a git repository; nothing else of the settings is changed.
  const settings = JSON.parse(readFileSync(join(root, "biome.json"), "utf8")) as Record<string, unknown>;
  writeFileSync(join(copy, "biome.json"), JSON.stringify({ ...settings, vcs: { enabled: false } }));
  cpSync(join(root, "tools/lint"), join(copy, "tools/lint"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
});

/** The rules that complain about one file with this text, sorted, without repeats. */
function complaints(path: string, text: string): string[] {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), text);
  const run = spawnSync(join(root, "node_modules/.bin/biome"), ["lint", "--reporter=json", path], {
    cwd: copy,
    encoding: "utf8",
  });
  rmSync(join(copy, path));
  const report = JSON.parse(run.stdout) as { diagnostics: { category: string }[] };
  return [...new Set(report.diagnostics.map(({ category }) => category.split("/").at(-1) ?? category))].sort();
}

test.each([
  [
    "noFloatingPromises",
    "async function work(): Promise<number> { return 1; }\nexport function run(): void { work(); }\n",
  ],
  [
    "useExhaustiveSwitchCases",
    'export function f(s: "a" | "b"): number {\n  switch (s) {\n    case "a":\n      return 1;\n  }\n  return 0;\n}\n',
  ],
  ["useMaxParams", "export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n"],
  ["noDefaultExport", "export default 5;\n"],
  ["noReExportAll", 'export * from "./other.ts";\n'],
  ["noNonNullAssertion", "export const head = (list: number[]): number => list[0]!;\n"],
  ["noConsole", 'console.log("hello");\n'],
  ["noJsRestrictedProperties", "export const chance = Math.random();\n"],
  ["noJsRestrictedProperties", "export const now = Date.now();\n"],
  ["plugin", "export const now = new Date();\n"],
  ["noRestrictedGlobals", "export const now = performance.now();\n"],
  ["noRestrictedGlobals", "setTimeout(() => {}, 5);\n"],
  ["noSkippedTests", 'test.skip("later", () => {});\n'],
])("%s is caught in pure code", (rule, text) => {
  expect(complaints("src/control/planted.ts", text)).toEqual([rule]);
});

test("a date made from a number is no clock, and passes", () => {
  expect(complaints("src/control/planted.ts", "export const dawn = new Date(5);\n")).toEqual([]);
});

test("adapters may read the clock and draw chance, kernels may take many parameters", () => {
  const clock = "export const now = (): number => Date.now() + Math.random() + performance.now();\n";
  expect(complaints("src/adapters/runtime/planted.ts", clock)).toEqual([]);
  const kernel = "export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n";
  expect(complaints("src/learn/tensor/reference-planted.ts", kernel)).toEqual([]);
});

test("a recursive mkdir, which never returns under /proc, is caught in what runs for users", () => {
  const planted = 'import { mkdirSync } from "node:fs";\nmkdirSync("a/b", { recursive: true });\n';
  expect(complaints("src/cli/planted.ts", planted)).toEqual(["plugin"]);
  expect(complaints("src/cli/planted.test.ts", planted)).toEqual([]);
});
