import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openStudyFolder } from "./study-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "coxswain-studies-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a result that can not be read is told with its file, once until it changes", async () => {
  const told: string[] = [];
  const shelf = openStudyFolder(folder, { onUnreadable: (file, { code }) => told.push(`${file} ${code}`) });
  const [torn, strange] = [join(folder, "a-torn.json"), join(folder, "b-strange.json")];
  writeFileSync(torn, "{");
  writeFileSync(strange, "{}");
  expect(await shelf.list()).toEqual([]);
  expect(await shelf.list()).toEqual([]);
  const each = [`${torn} server.study-unreadable`, `${strange} server.study-unreadable`];
  expect([...told].sort()).toEqual(each);
  writeFileSync(torn, "{ again");
  await shelf.list();
  expect(told.slice(2)).toEqual([each[0]]);
});
