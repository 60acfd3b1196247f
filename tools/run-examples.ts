/**
 * `npm run examples`: compiles every program of examples/ and runs it as a reader would.
 * An example says in its header what it prints, one line each after `// prints: `; `…` stands for anything. It must end
 * by itself, with code 0, within the limit, having printed those lines in that order.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

const LIMIT_MS = 60_000;
const root = process.cwd();
const problems: string[] = [];

const compile = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.examples.json"], {
  cwd: root,
  encoding: "utf8",
});
if (compile.status !== 0) problems.push(`the examples do not compile:\n${compile.stdout}`);

const names = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
for (const name of compile.status === 0 ? names : []) {
  const expected = [...readFileSync(join(root, "examples", name), "utf8").matchAll(/^\/\/ prints: (.*)$/gm)];
  const began = performance.now();
  const run = spawnSync(process.execPath, [join("dist/examples", name.replace(/\.ts$/, ".js"))], {
    cwd: root,
    encoding: "utf8",
    timeout: LIMIT_MS,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const took = ((performance.now() - began) / 1000).toFixed(1);
  const before = problems.length;
  if (run.status !== 0)
    problems.push(`${name}: ended with ${run.status ?? run.signal} after ${took} s:\n${run.stderr}`);
  if (expected.length === 0) problems.push(`${name}: says nowhere what it prints ("// prints: …")`);
  let rest = run.stdout.split("\n");
  for (const [, line = ""] of expected) {
    const pattern = new RegExp(`^${line.split("…").map(literally).join(".*")}$`);
    const at = rest.findIndex((printed) => pattern.test(printed.trimEnd()));
    if (at < 0) problems.push(`${name}: did not print "${line}"; it printed:\n${run.stdout}`);
    else rest = rest.slice(at + 1);
  }
  if (problems.length === before) console.log(`${name}: as expected, ${took} s`);
}
for (const problem of problems) console.error(problem);
console.log(`examples: ${names.length} programs, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
