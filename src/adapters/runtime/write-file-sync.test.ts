import type * as Fs from "node:fs";
import { fstatSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { writeFileAtomically } from "./write-file.ts";

const order = vi.hoisted((): string[] => []);

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  return {
    ...fs,
    fsyncSync: (handle: number) => {
      order.push(fstatSync(handle).isDirectory() ? "folder forced to disk" : "file forced to disk");
      fs.fsyncSync(handle);
    },
    renameSync: (from: string, to: string) => {
      order.push("renamed");
      fs.renameSync(from, to);
    },
  };
});

test("a file is forced to disk before its name, and its name before the return", () => {
  writeFileAtomically(join(temporaryFolder("sync"), "kept.json"), "{}");
  const named = process.platform === "win32" ? [] : ["folder forced to disk"];
  expect(order).toEqual(["file forced to disk", "renamed", ...named]);
});
