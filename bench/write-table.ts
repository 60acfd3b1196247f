/**
 * Puts the figures of `coxswain bench --json` (all benches; on standard input) into docs/guide/benchmarks.md:
 *   bin/coxswain bench --json | node dist/bench/write-table.js
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withTables } from "./markdown.ts";
import { packageRoot } from "./places.ts";
import type { BenchReport } from "./report.ts";

const page = join(packageRoot(), "docs", "guide", "benchmarks.md");
const reports = JSON.parse(readFileSync(0, "utf8")) as Record<string, BenchReport>;
writeFileSync(page, withTables(readFileSync(page, "utf8"), reports));
