import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../../base/index.ts";
import { readServices, writeServices } from "./services-file.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("services");
});

test("it acts until a person says otherwise, and then that is what the next start finds, with the SLOs", () => {
  expect(unwrap(readServices(folder))).toEqual({ mode: "act", since: null, sloMs: {} });
  const said = { mode: "observe", since: 5, sloMs: { "POST /checkout": 250, login: null } } as const;
  expect(writeServices(folder, said).ok).toBe(true);
  expect(unwrap(readServices(folder))).toEqual(said);
});

test.each([
  ["a changed digit", (text: string) => text.replace("250", "950")],
  ["a changed mode", (text: string) => text.replace("observe", "act")],
  ["half of it", (text: string) => text.slice(0, -20)],
  ["an earlier version", () => '{"schema":2,"mode":"observe","since":7,"sloMs":{}}'],
])("%s is refused, for it may have said 'observe', and is kept", (_what, change) => {
  const file = join(folder, "services.json");
  unwrap(writeServices(folder, { mode: "observe", since: 5, sloMs: { "POST /checkout": 250 } }));
  writeFileSync(file, change(readFileSync(file, "utf8")));
  expect(readServices(folder)).toMatchObject({
    ok: false,
    failure: { code: "services.saved-state", message: expect.stringContaining(`${file} cannot be used (`) },
  });
});

test("where it cannot be written, that is said", () => {
  writeFileSync(join(folder, "file"), "");
  expect(writeServices(join(folder, "file"), { mode: "observe", since: 5, sloMs: {} })).toMatchObject({
    failure: { code: "services.not-saved" },
  });
});
