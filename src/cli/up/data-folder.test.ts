import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { keepForOwner, prepareFolder, tightenFolder } from "./data-folder.ts";

test("a folder is made with all that is missing above it", () => {
  const above = temporaryFolder("folder");
  const folder = join(above, "a", "b");
  expect(prepareFolder(folder).ok).toBe(true);
  expect(prepareFolder(folder).ok).toBe(true);
  expect(existsSync(folder)).toBe(true);
});

// Node's own recursive mkdir does not return here.
test.each(["/proc/coxswain", "/proc/coxswain/deeper"])("the folder %s, which nobody can make, is refused", (folder) => {
  expect(prepareFolder(folder)).toMatchObject({
    ok: false,
    failure: {
      code: "plane.data-unwritable",
      message: expect.stringContaining(`the folder ${folder} cannot be written`),
    },
  });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("what is made is its owner's, and after it the usual is back", () => {
  const folder = temporaryFolder("folder");
  const before = process.umask();
  const back = keepForOwner();
  expect(prepareFolder(join(folder, "data")).ok).toBe(true);
  writeFileSync(join(folder, "data", "file"), "");
  back();
  expect([modeOf(join(folder, "data")), modeOf(join(folder, "data", "file"))]).toEqual(["700", "600"]);
  expect(process.umask()).toBe(before);
});

test("what others could read is closed to them; files of somebody else and links are left alone", () => {
  const folder = temporaryFolder("folder");
  const path = (name: string) => join(folder, name);
  mkdirSync(path("agents/a"), { recursive: true });
  for (const name of ["plane.json", "audit.jsonl", "agents/a/newest", "notes.txt", "elsewhere"]) {
    writeFileSync(path(name), "");
    chmodSync(path(name), 0o644);
  }
  symlinkSync(path("elsewhere"), path("agents/link"));
  for (const name of ["", "agents", "agents/a"]) chmodSync(path(name), 0o755);
  expect(tightenFolder(folder)).toEqual({ closed: 6, open: [] });
  for (const name of ["", "agents", "agents/a"]) expect(modeOf(path(name)), name).toBe("700");
  for (const name of ["plane.json", "audit.jsonl", "agents/a/newest"]) expect(modeOf(path(name)), name).toBe("600");
  for (const name of ["notes.txt", "elsewhere"]) expect(modeOf(path(name)), name).toBe("644");
  expect(tightenFolder(folder)).toEqual({ closed: 0, open: [] });
});
