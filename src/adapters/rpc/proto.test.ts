import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const buf = (...args: string[]): void => {
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH ?? ""}`;
  execFileSync(join(root, "node_modules/.bin/buf"), args, { cwd: root, env: { ...process.env, PATH: path } });
};

test("the generated code is what the published .proto says now, and the .proto follows its rules", () => {
  const scratch = temporaryFolder("proto");
  buf("lint");
  buf("generate", "--output", scratch);
  const file = "src/adapters/rpc/generated/coxswain/env/v1/env_pb.ts";
  const hint = "run 'npm run proto' and commit what it writes";
  expect(readFileSync(join(root, file), "utf8"), hint).toBe(readFileSync(join(scratch, file), "utf8"));
});
