import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { prepareFolder } from "./saved-plane.ts";

test("a folder is made with all that is missing above it", () => {
  const above = mkdtempSync(join(tmpdir(), "coxswain-folder-"));
  try {
    const folder = join(above, "a", "b");
    expect(prepareFolder(folder).ok).toBe(true);
    expect(prepareFolder(folder).ok).toBe(true);
    expect(existsSync(folder)).toBe(true);
  } finally {
    rmSync(above, { recursive: true });
  }
});

// Node's own recursive mkdir does not return here.
test.each(["/proc/coxswain", "/proc/coxswain/deeper"])("the folder %s, which nobody can make, is refused", (folder) => {
  expect(prepareFolder(folder)).toMatchObject({
    ok: false,
    failure: {
      code: "plane.data-unwritable",
      message: expect.stringContaining(`the folder ${folder} can not be written`),
    },
  });
});
