import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDuckdbStore } from "../../src/adapters/store/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { compileSources } from "./compile-sources.ts";
import { plannedBatch } from "./planned-batches.ts";

let compiled = "";
const folder = temporaryFolder("full");
beforeAll(async () => {
  compiled = await compileSources(["src/base", "src/learn/trajectory", "src/adapters/store", "test/crash"]);
});
afterAll(async () => {
  await rm(compiled, { recursive: true, force: true });
});

const run = (command: string, args: readonly string[]): string[] => {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the writer ended with ${status}:\n${stderr}`);
  return stdout.trim().split("\n");
};

/** The failure is coded, says what to do, and after it every acknowledged record is there and nothing else. */
async function expectHonestFailure(lines: readonly string[], path: string): Promise<void> {
  const said = JSON.parse(lines[0] ?? "{}");
  expect(said.code).toBe("store.disk-full");
  expect(said.message).toMatch(
    /^there is no space left to append to the trajectory store .*; the records of this call were not stored, free some space and repeat it$/,
  );
  expect(said.acknowledged).toBeGreaterThan(0);
  const expected = Array.from({ length: said.acknowledged }, (_, batch) => plannedBatch(0, batch).length).reduce(
    (a, b) => a + b,
    0,
  );
  expect(JSON.parse(lines[1] ?? "{}")).toEqual({ readable: expected });
  const store = await openDuckdbStore({ path });
  try {
    expect((await store.counts()).records).toBe(expected);
    // The refused batch can be repeated now that there is room.
    const refused = plannedBatch(0, said.acknowledged);
    expect(await store.append(refused)).toEqual({ added: refused.length, repeated: 0 });
  } finally {
    await store.close();
  }
}

describe("a disk that fills up while a store is written", () => {
  test("a file that may not grow any further is a coded failure, and what was acknowledged stays", async () => {
    const path = join(folder, "limited.duckdb");
    // A limit on the size of any file (in blocks) with the signal for it ignored makes write() fail, as a full disk does.
    const script = `trap '' XFSZ; ulimit -f 3000; exec "$0" "$1" "$2"`;
    const lines = run("sh", ["-c", script, process.execPath, join(compiled, "test/crash/full-disk-writer.js"), path]);
    await expectHonestFailure(lines, path);
  });

  // Mounting needs privileges that not everybody has; without them the test above is the whole proof.
  const small = join(tmpdir(), `coxswain-tmpfs-${process.pid}`);
  if (!canMount(small)) return;
  // A generous limit: a test that is cut off cannot unmount.
  test("a file system of two megabytes gives the same failure, and goes on when it has grown", {
    timeout: 120_000,
  }, async () => {
    mount(small);
    try {
      const path = join(small, "full.duckdb");
      const lines = run(process.execPath, [join(compiled, "test/crash/full-disk-writer.js"), path]);
      execFileSync("mount", ["-o", "remount,size=64m", small]);
      await expectHonestFailure(lines, path);
    } finally {
      execFileSync("umount", [small]);
      await rm(small, { recursive: true, force: true });
    }
  });
});

function mount(place: string): void {
  mkdirSync(place, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", place], { stdio: "ignore" });
}

function canMount(place: string): boolean {
  try {
    mount(place);
    execFileSync("umount", [place]);
    return true;
  } catch {
    rmdirSync(place);
    return false;
  }
}
