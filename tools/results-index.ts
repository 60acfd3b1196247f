/**
 * Makes the tables in the pages of results anew, from the studies' JSON reports beside them.
 * Run it after the studies: `npm run --silent tools && node dist/tools/results-index.js`.
 * Not here: what a page shows (docs/results.ts), and its words, which are in the page.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StudyReport } from "../src/studies/index.ts";
import { withResults } from "./docs/results.ts";

const folder = "docs/results";
const reportOf = (study: string): StudyReport => JSON.parse(readFileSync(join(folder, `${study}.json`), "utf8"));

for (const name of readdirSync(folder).filter((file) => file.endsWith(".md"))) {
  const path = join(folder, name);
  const page = readFileSync(path, "utf8");
  const made = withResults(page, reportOf);
  if (made === page) continue;
  writeFileSync(path, made);
  console.log(`wrote ${path}`);
}
