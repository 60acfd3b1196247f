import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";
import { openStudyFolder } from "./study-folder.ts";

const folder = temporaryFolder("studies");

test("a result that cannot be read is told with its file, once until it changes", async () => {
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
