import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { runCli } from "./run-cli.ts";

const tiny = fileURLToPath(new URL("./fixtures/tiny-studies.mjs", import.meta.url));

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("reproduce");
});

const reproduce = (...args: string[]) => runCli(["reproduce", ...args, "--module", tiny], { cwd });

function keptJobs(study: string): string[] {
  const folder = join(cwd, ".coxswain", "studies", study);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .map((file) => join(folder, file));
}

test("a study whose claims hold prints one JSON object with all that the design promises and exits with 0", async () => {
  const { code, stdout } = await reproduce("coin", "--quick", "--json");
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    study: "coin",
    quick: true,
    seeds: [1, 2],
    world: "none",
    config: { flips: 500, chance: { fair: 0.5, loaded: 0.8 } },
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    commit: expect.any(String),
    node: process.version,
    cpu: expect.any(String),
    kernels: expect.stringMatching(/^(native|wasm|reference)$/),
    wallSeconds: expect.any(Number),
  });
  expect(report.rows).toHaveLength(2);
  expect(report.rows[1]).toMatchObject({
    id: "loaded-share",
    paper: { low: 0.5, high: 0.5, unit: "", where: "every textbook" },
    ours: { n: 2, unit: "" },
    kind: "promise",
    holds: true,
  });
  // 500 flips at 0.8: three standard deviations are 0.054.
  expect(Math.abs(report.rows[1].ours.mean - 0.8)).toBeLessThan(0.054);
});

test("a figure that is not reproduced gives exit code 3 beside a promise that is kept, each in its own table", async () => {
  const { code, stdout } = await reproduce("coin-missed-figure", "--quick");
  expect(code).toBe(3);
  expect(stdout).toMatch(/^Promises$[\s\S]*yes\s*$[\s\S]*^Reproductions$[\s\S]*NOT\s*$/m);
  expect(stdout).toContain("1 of 1 promises kept; 0 of 1 figures reproduced, 0 in the same direction.");
});

test("a study that only shows something exits with 0", async () => {
  const { code, stdout } = await reproduce("coin-shown", "--quick");
  expect(code).toBe(0);
  expect(stdout).toContain("Shown, not judged");
});

test("a row without a kind is refused with its place", async () => {
  const { code, stderr } = await reproduce("coin-without-kinds", "--quick");
  expect(code).toBe(1);
  expect(stderr).toContain("rows[0].kind: expected promise or reproduction or shown, found nothing");
});

test("a promise that is not kept gives exit code 3 and still prints the table", async () => {
  const { code, stdout } = await reproduce("coin-overclaimed", "--quick");
  expect(code).toBe(3);
  expect(stdout).toContain("at least 0.9 of the flips are heads");
  expect(stdout).toMatch(/NO\s*$/m);
});

test("--seeds sets the number of seeds", async () => {
  const { stdout } = await reproduce("coin", "--quick", "--seeds", "3", "--json");
  expect(JSON.parse(stdout).seeds).toEqual([1, 2, 3]);
});

test("--first-seed moves the seeds: in the report, in the table, in the page and in the kept jobs", async () => {
  const moved = ["coin", "--quick", "--seeds", "3", "--first-seed", "41"];
  expect(JSON.parse((await reproduce(...moved, "--json")).stdout).seeds).toEqual([41, 42, 43]);
  const kept = keptJobs("coin").map((file) => JSON.parse(readFileSync(file, "utf8")));
  expect([...new Set(kept.map(({ seed }) => seed))].sort()).toEqual([41, 42, 43]);
  const { stdout } = await reproduce(...moved, "--out", "results");
  expect(stdout).toContain("3 seeds (41 to 43)");
  const page = readFileSync(join(cwd, "results", "coin.md"), "utf8");
  expect(page).toContain("Made by `coxswain reproduce coin --quick --seeds 3 --first-seed 41 --out docs/results`");
});

test("seeds that an earlier --first-seed has run are not run again", async () => {
  await reproduce("coin-slow", "--quick", "--first-seed", "7", "--json");
  const { stdout, stderr } = await reproduce("coin-slow", "--quick", "--first-seed", "8", "--log-level", "info");
  expect(stderr).toContain('"kept":2,"of":4');
  expect(stdout).toContain("2 seeds (8 to 9)");
  expect(keptJobs("coin-slow")).toHaveLength(6);
});

test("a study's own first seed is the default, and the results of other seeds differ", async () => {
  const own = JSON.parse((await reproduce("coin-held-out", "--quick", "--json")).stdout);
  expect(own.seeds).toEqual([101, 102]);
  const first = JSON.parse((await reproduce("coin-held-out", "--quick", "--first-seed", "1", "--json")).stdout);
  expect(first.seeds).toEqual([1, 2]);
  expect(first.rows).not.toEqual(own.rows);
});

test("a second run takes finished jobs from disk, and --fresh runs them again", async () => {
  const first = JSON.parse((await reproduce("coin-slow", "--quick", "--json")).stdout);
  const stamps = () => keptJobs("coin-slow").map((file) => JSON.parse(readFileSync(file, "utf8")).result.finishedAt);
  const before = stamps();
  expect(before).toHaveLength(4);
  const second = JSON.parse((await reproduce("coin-slow", "--quick", "--json")).stdout);
  expect(stamps()).toEqual(before);
  expect(second.rows).toEqual(first.rows);
  await reproduce("coin-slow", "--quick", "--fresh", "--json");
  expect(stamps()).not.toEqual(before);
});

test("more seeds later run only the missing jobs", async () => {
  await reproduce("coin-slow", "--quick", "--seeds", "1", "--json");
  const before = keptJobs("coin-slow").map((file) => readFileSync(file, "utf8"));
  await reproduce("coin-slow", "--quick", "--seeds", "2", "--json");
  const after = keptJobs("coin-slow").map((file) => readFileSync(file, "utf8"));
  expect(after).toHaveLength(4);
  expect(after).toEqual(expect.arrayContaining(before));
});

test("a kept job that was damaged on disk is run again", async () => {
  const first = JSON.parse((await reproduce("coin", "--quick", "--json")).stdout);
  const [file] = keptJobs("coin") as [string, ...string[]];
  writeFileSync(file, readFileSync(file, "utf8").replace(/"heads":\d+/, '"heads":499'));
  const second = JSON.parse((await reproduce("coin", "--quick", "--json")).stdout);
  expect(second.rows).toEqual(first.rows);
});

test("a run killed without warning goes on with the jobs it had finished", async () => {
  const killed = await runCli(["reproduce", "coin-slow", "--seeds", "6", "--workers", "1", "--module", tiny], {
    cwd,
    whileRunning: (child) => {
      child.stderr?.on("data", (text: string) => {
        if (text.includes('"done":3')) child.kill("SIGKILL");
      });
    },
  });
  expect(killed.code).toBeNull();
  const finished = keptJobs("coin-slow").length;
  expect(finished).toBeGreaterThanOrEqual(3);
  expect(finished).toBeLessThan(12);
  const { code, stderr } = await reproduce("coin-slow", "--seeds", "6");
  expect(code).toBe(0);
  expect(stderr).toContain(`"kept":${finished}`);
  expect(keptJobs("coin-slow")).toHaveLength(12);
});

test("Ctrl-C ends the run with 130, quickly, and keeps what was finished", async () => {
  const { code, stderr } = await runCli(
    ["reproduce", "coin-slow", "--seeds", "50", "--workers", "1", "--module", tiny],
    {
      cwd,
      whileRunning: (child) => {
        child.stderr?.on("data", (text: string) => {
          if (text.includes('"done":2')) child.kill("SIGINT");
        });
      },
    },
  );
  expect(code).toBe(130);
  expect(stderr).not.toContain("coxswain:");
  expect(keptJobs("coin-slow").length).toBeGreaterThanOrEqual(2);
  expect(keptJobs("coin-slow").length).toBeLessThan(20);
});

test("a unit that throws fails the study, names seed and unit, and keeps the others", async () => {
  const { code, stderr } = await reproduce("coin-broken", "--quick", "--workers", "1", "--json");
  expect(code).toBe(1);
  const failure = JSON.parse(stderr.split("\n").find((line) => line.startsWith('{"code"')) ?? "null");
  expect(failure).toMatchObject({ code: "study.crashed", retry: false });
  expect(failure.message).toContain("coin-broken, unit 'loaded', seed 1 failed: Error: the coin rolled away");
  expect(keptJobs("coin-broken")).toHaveLength(1);
});

test("a thread that crashes when it has nothing to do fails the study by name and keeps the results", async () => {
  const { code, stderr } = await reproduce("coin-aftermath", "--seeds", "1", "--workers", "2", "--json");
  expect(code).toBe(1);
  const failure = JSON.parse(stderr.split("\n").find((line) => line.startsWith('{"code"')) ?? "null");
  expect(failure).toMatchObject({ code: "study.crashed", retry: false });
  expect(failure.message).toContain("coin-aftermath, unit 'fair', seed 1 crashed: the coin fell off the table");
  expect(keptJobs("coin-aftermath")).toHaveLength(1);
});

test("a result that JSON would silently change is refused", async () => {
  const { code, stderr } = await reproduce("coin-nan", "--quick");
  expect(code).toBe(1);
  expect(stderr).toContain("a study's result.heads is NaN, which JSON cannot keep");
});

test("--out writes the page, the numbers and the plot in both formats", async () => {
  const { code, stderr } = await reproduce("coin", "--quick", "--out", "results");
  expect(code).toBe(0);
  expect(readdirSync(join(cwd, "results")).sort()).toEqual(["coin.json", "coin.md", "coin.png", "coin.svg"]);
  const page = readFileSync(join(cwd, "results", "coin.md"), "utf8");
  expect(page).toContain("# A fair coin and a loaded one");
  expect(page).toContain("| share of heads, fair coin | 0.5 (every textbook) |");
  expect(page).toContain("![Share of heads](coin.svg)");
  expect(JSON.parse(readFileSync(join(cwd, "results", "coin.json"), "utf8")).study).toBe("coin");
  expect([...readFileSync(join(cwd, "results", "coin.png")).subarray(1, 4)]).toEqual([...Buffer.from("PNG")]);
  expect(stderr).toContain("wrote ");
});
