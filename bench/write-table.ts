/**
 * Puts the figures of `coxswain bench --json` (on standard input) into docs/guide/benchmarks.md:
 *   bin/coxswain bench --json | node dist/bench/write-table.js
 *   bin/coxswain bench autoscale --json | node dist/bench/write-table.js autoscale
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withTables } from "./markdown.ts";
import { packageRoot } from "./places.ts";
import type { BenchReport } from "./report.ts";

const page = join(packageRoot(), "docs", "guide", "benchmarks.md");
const given: unknown = JSON.parse(readFileSync(0, "utf8"));
const [name] = process.argv.slice(2);
const reports = (name === undefined ? given : { [name]: given }) as Record<string, BenchReport>;
writeFileSync(page, withTables(readFileSync(page, "utf8"), reports));
