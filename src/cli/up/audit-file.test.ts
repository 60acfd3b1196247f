import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import type { AuditEntry } from "../../server/index.ts";
import { AuditFile } from "./audit-file.ts";

const entry = (at: number): AuditEntry => ({
  at,
  who: "ann",
  method: "POST",
  path: "/v1/agents/a/pause",
  command: null,
  outcome: "done",
  status: 200,
  code: null,
});

let folder: string;
let failures: unknown[];
beforeEach(() => {
  folder = temporaryFolder("audit");
  failures = [];
});
const open = () => new AuditFile(folder, (cause) => failures.push(cause));
const file = () => join(folder, "audit.jsonl");
const times = () =>
  readFileSync(file(), "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [(JSON.parse(line) as AuditEntry).at];
      } catch {
        return [];
      }
    });

test("each attempt is a line that its owner alone can read", () => {
  const audit = open();
  audit.write(entry(1));
  audit.write(entry(2));
  expect(times()).toEqual([1, 2]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

test("a line that was not finished does not take the next one with it", () => {
  open().write(entry(1));
  appendFileSync(file(), '{"at":2,"who":"an');
  open().write(entry(3));
  expect(times()).toEqual([1, 3]);
});

test("what cannot be written is kept until it can be, and that is known meanwhile", () => {
  const audit = open();
  audit.write(entry(1));
  // A folder stands where the file was.
  renameSync(file(), `${file()}.1`);
  mkdirSync(file());
  audit.write(entry(2));
  audit.write(entry(3));
  expect(audit.isWritten).toBe(false);
  expect(failures.length).toBeGreaterThan(0);
  rmSync(file(), { recursive: true });
  expect(audit.isWritten).toBe(true);
  expect(times()).toEqual([2, 3]);
});
