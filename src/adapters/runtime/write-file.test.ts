import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { writeFileAtomically } from "./write-file.ts";

test("a file is replaced whole, and a failed write leaves nothing behind", () => {
  const data = temporaryFolder("write");
  const file = join(data, "x.json");
  writeFileAtomically(file, "old");
  writeFileAtomically(file, "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(() => writeFileAtomically(data, "a folder stands here")).toThrow();
  expect(readdirSync(data)).toEqual(["x.json"]);
});
