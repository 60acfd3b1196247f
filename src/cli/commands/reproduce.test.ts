import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import type * as PackageInfo from "../package-info.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";

const commit = vi.hoisted(() => ({ text: "" }));

vi.mock("../package-info.ts", async (original) => ({
  ...(await original<typeof PackageInfo>()),
  gitCommit: () => commit.text,
}));

const CLEAN = "0123456789abcdef0123456789abcdef01234567";

/** A study without jobs needs no threads and is over at once. */
const EMPTY_STUDY = `export const studies = [{
  id: "empty", title: "Nothing", about: "Runs nothing.", world: "none", seeds: { quick: 1, full: 1 },
  config: () => ({}), units: () => [], runUnit() {}, rows: () => [], figures: () => [],
}];`;

async function reproduce(...args: string[]) {
  const cwd = temporaryFolder("marks");
  writeFileSync(join(cwd, "empty.mjs"), EMPTY_STUDY);
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write() {} },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
    signal: new AbortController().signal,
    now: () => performance.now(),
    exitWith() {},
  };
  const code = await run(shell, ["reproduce", "empty", "--module", "empty.mjs", ...args]);
  return { code, cwd, lines: err.join("").split("\n") };
}

test("results of a tree with uncommitted changes are marked, and that is said before the study starts", async () => {
  commit.text = `${CLEAN}+changes`;
  const { code, cwd, lines } = await reproduce("--out", "results");
  expect(code).toBe(0);
  expect(lines[0]).toBe(
    "the tree has uncommitted changes; results will be marked 0123456789ab+changes, so commit first to publish them",
  );
  expect(JSON.parse(readFileSync(join(cwd, "results", "empty.json"), "utf8")).commit).toBe(`${CLEAN}+changes`);
});

test("a clean tree, or a run that writes no files, gets no warning", async () => {
  commit.text = CLEAN;
  expect((await reproduce("--out", "results")).lines.join("\n")).not.toContain("uncommitted");
  commit.text = `${CLEAN}+changes`;
  expect((await reproduce()).lines.join("\n")).not.toContain("uncommitted");
});

test("a first seed that is no whole number from 1 on, or too large for the seeds after it, is a usage error", async () => {
  commit.text = CLEAN;
  for (const wrong of ["0", "-3", "1.5", "x", "9007199254740992"]) {
    const { code, lines } = await reproduce("--first-seed", wrong);
    expect([wrong, code]).toEqual([wrong, 2]);
    expect(lines.join(" ")).toContain("--first-seed");
  }
  const { code, lines } = await reproduce("--seeds", "2", "--first-seed", "9007199254740991");
  expect(code).toBe(2);
  expect(lines.join(" ")).toContain("2 seeds from 9007199254740991 on go beyond");
  expect((await reproduce("--seeds", "1", "--first-seed", "9007199254740991")).code).toBe(0);
});
