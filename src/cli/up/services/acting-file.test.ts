import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readActing, writeActing } from "./acting-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coxswain-acting-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("it acts until a person says otherwise, and then that is what the next start finds", () => {
  expect(readActing(folder)).toEqual({ mode: "act", since: null, problem: null });
  expect(writeActing(folder, { mode: "observe", since: 5 }).ok).toBe(true);
  expect(readActing(folder)).toEqual({ mode: "observe", since: 5, problem: null });
});

test("a file that can not be read may have said 'observe', so nobody acts, and it is told", () => {
  writeFileSync(join(folder, "services.json"), '{"schema":1,"mode":"ac');
  expect(readActing(folder)).toMatchObject({ mode: "observe", problem: expect.stringContaining("services.json") });
});

test("where it can not be written, that is said", () => {
  writeFileSync(join(folder, "file"), "");
  expect(writeActing(join(folder, "file"), { mode: "observe", since: 5 })).toMatchObject({
    failure: { code: "services.not-saved" },
  });
});
