import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { failureOf } from "../../base/index.ts";
import { makeFolder, requireWritable } from "./make-folder.ts";

const base = temporaryFolder("folder");

const thrownBy = (run: () => void): unknown => {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

test("folders are made level by level, twice without harm, and trying one leaves nothing in it", () => {
  const folder = join(base, "a", "b", "c");
  makeFolder(folder);
  makeFolder(folder);
  requireWritable(folder);
  expect(readdirSync(folder)).toEqual([]);
});

test("a file in the way is the system's own error", () => {
  writeFileSync(join(base, "file"), "");
  expect(thrownBy(() => makeFolder(join(base, "file", "deeper")))).toMatchObject({ code: "ENOTDIR" });
});

test.skipIf(!existsSync("/proc/self"))("a file system that takes no folders is one clear failure", () => {
  for (const folder of ["/proc/coxswain", "/proc/coxswain/deeper", "/proc"]) {
    const found = failureOf(thrownBy(() => requireWritable(folder)));
    expect(found).toMatchObject({ code: "file.unwritable", message: expect.stringContaining("/proc") });
  }
});
