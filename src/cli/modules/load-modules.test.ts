import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";

const own = fileURLToPath(new URL("../../../test/fixtures/modules/own.mjs", import.meta.url));

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("modules");
});

async function cli(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
    signal: new AbortController().signal,
    now: () => performance.now(),
    exitWith() {},
  };
  const code = await run(shell, args);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

const training = ["train", "SeenChoice-v0", "--algo", "counts", "--module", own, "--steps", "400", "--json"];

test("a task and a learner of a module are trained and evaluated by their names", async () => {
  const trained = await cli(...training, "--out", "own");
  expect(trained.stderr).not.toContain("coxswain:");
  expect(trained.code).toBe(0);
  // Who chooses what is seen earns 1 in each of 50 steps.
  expect(JSON.parse(trained.stdout).evaluations.at(-1)).toMatchObject({ steps: 400, mean: 50, deviation: 0 });
  const evaluated = await cli("evaluate", "own/policy.ckpt", "--module", own, "--seeds", "2", "--json");
  expect(evaluated.code).toBe(0);
  expect(JSON.parse(evaluated.stdout)).toMatchObject({
    algorithm: "counts",
    task: "SeenChoice-v0",
    policy: { mean: 50 },
  });
});

test("threads load the module again", async () => {
  const { code, stdout } = await cli(...training, "--threads", "2", "--out", "threads");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).evaluations.at(-1)).toMatchObject({ steps: 400, mean: 50 });
});

test("settings name modules and reach the learner and the environment", async () => {
  writeFileSync(
    join(cwd, "coxswain.yaml"),
    `modules: [${own}]\ntrain: { task: SeenChoice-v0, algo: counts, steps: 50, learner: { explore: 0 } }\n`,
  );
  const { code } = await cli("train", "--out", "set");
  expect(code).toBe(0);
  const listed = JSON.parse((await cli("env", "list", "--json")).stdout) as { id: string }[];
  expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(["AutoscaleFluid-v0", "SeenChoice-v0"]));
});

test.each([
  ["missing.mjs", undefined, "file.missing", "missing.mjs"],
  ["empty.mjs", "export const other = 1;", "module.exports", "exports none of environments, learners, worlds"],
  ["single.mjs", "export const learners = {};", "module.exports", "'learners' is not a list"],
  ["nameless.mjs", "export const learners = [{}];", "module.exports", "learners[0] needs 'kind'"],
  ["null.mjs", "export const worlds = [null];", "module.exports", "worlds[0] needs 'name'"],
])("%s is refused in one sentence", async (name, text, code, message) => {
  if (text !== undefined) writeFileSync(join(cwd, name), text);
  const { stderr } = await cli("train", "--module", name, "--json");
  expect(JSON.parse(stderr)).toMatchObject({ code, message: expect.stringContaining(message) });
});

test("an unknown learner is said before anything is written", async () => {
  const { code, stderr } = await cli("train", "CartPole-v1", "--algo", "pppo", "--json");
  expect(code).toBe(2);
  expect(JSON.parse(stderr).message).toBe("there is no learner 'pppo'; did you mean 'ppo'?");
});
