/**
 * `npm run docs:check`: the documentation and the tree say only what is true of this checkout.
 * Owns: reading the tree and the report. Not here: the checks themselves (docs/).
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StudyReport } from "../src/studies/index.ts";
import { askProgram, CONFIGURATION_PAGE, coxswain } from "./docs/ask-program.ts";
import { outdatedCounts } from "./docs/claims.ts";
import { checkCode } from "./docs/code-blocks.ts";
import { commandsIn, unknownCommands } from "./docs/commands.ts";
import { configurationPage } from "./docs/configuration.ts";
import { failureCodeProblems } from "./docs/failure-codes.ts";
import { hygieneProblems } from "./docs/hygiene.ts";
import { brokenLinks, orphans } from "./docs/links.ts";
import { PACKAGE_PAGE, packagePage, readPublicEntries } from "./docs/public-entries.ts";
import { withResults } from "./docs/results.ts";

const GUIDE = "docs/guide/failures.md";
const RESULTS = "docs/results/";
const BINARY = /\.(?:wasm|png|node|parquet|duckdb|ico|gz|bin)$/;

const root = process.cwd();
// What git holds or would hold: a file that is ignored is nobody's documentation.
const paths = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
  maxBuffer: 1 << 26,
})
  .split("\0")
  .filter((path) => path !== "" && !BINARY.test(path) && existsSync(join(root, path)));
const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const pages = files.filter(({ path }) => path.endsWith(".md"));
const sources = files.filter(({ path }) => /^src\/.*\.ts$/.test(path) && !/(?:\.test|conformance)\.ts$/.test(path));
const guide = files.find(({ path }) => path === GUIDE) ?? { path: GUIDE, text: "" };
const changelog = files.find(({ path }) => path === "CHANGELOG.md")?.text ?? "";
const { version, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  scripts: Record<string, string>;
};
const known = { scripts: Object.keys(scripts), commands: commandsIn(coxswain("--help")) };
const surface = readPublicEntries(root);
const packageText = files.find(({ path }) => path === PACKAGE_PAGE)?.text;
const configuration = files.find(({ path }) => path === CONFIGURATION_PAGE)?.text;

const reportOf = (study: string) =>
  JSON.parse(readFileSync(join(root, RESULTS, `${study}.json`), "utf8")) as StudyReport;

const code = checkCode(root, pages);
const problems = [
  ...brokenLinks(root, pages),
  ...orphans(pages),
  ...unknownCommands(pages, known),
  ...failureCodeProblems(sources, guide),
  ...outdatedCounts(pages),
  ...pages
    .filter(({ path, text }) => path.startsWith(RESULTS) && withResults(text, reportOf) !== text)
    .map(({ path }) => `${path}: is not what the studies' reports say now; run 'node dist/tools/results-index.js'`),
  ...hygieneProblems(files),
  ...(configuration === configurationPage(askProgram())
    ? []
    : [`${CONFIGURATION_PAGE}: is not what the schemas say now; run 'npm run docs:write'`]),
  ...surface.problems,
  ...(packageText === packagePage(surface.entries)
    ? []
    : [`${PACKAGE_PAGE}: is not what src/public exports now; run 'npm run docs:write'`]),
  ...(changelog.includes(`## [${version}]`) ? [] : [`CHANGELOG.md: has no section "## [${version}]"`]),
  ...code.problems,
];
for (const problem of problems) console.error(problem);
console.log(
  `docs: ${pages.length} pages, ${code.compiled} code blocks compiled, ${code.ran} command blocks run, ${files.length} files read, ${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
