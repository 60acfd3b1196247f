import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("train");
  writeFileSync(
    join(cwd, "coxswain.yaml"),
    "train:\n  evaluateEverySteps: 500\n  checkpointEverySteps: 500\n  evaluateEpisodes: 2\n  ppo: { hidden: [16] }\n",
  );
});

interface Running {
  /** Stops the command, as Ctrl-C does, at the first line of standard error that contains this. */
  readonly stopAt?: string;
}

async function cli(args: readonly string[], { stopAt }: Running = {}) {
  const abort = new AbortController();
  const out: string[] = [];
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: (text) => out.push(text) },
    stderr: {
      write(text) {
        err.push(text);
        if (stopAt !== undefined && text.includes(stopAt)) abort.abort(new DOMException("stopped", "AbortError"));
      },
    },
    env: {},
    cwd,
    signal: abort.signal,
    now: () => performance.now(),
    exitWith() {},
  };
  const code = await run(shell, args);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

const bytesOf = (name: string) => readFileSync(join(cwd, name));

test("a training leaves its settings, checkpoints, evaluations and curves, and says where", async () => {
  const { code, stdout } = await cli([
    "train",
    "CartPole-v1",
    "--steps",
    "1200",
    "--seed",
    "3",
    "--out",
    "r",
    "--json",
  ]);
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    task: "CartPole-v1",
    algo: "ppo",
    seed: 3,
    steps: 1200,
    policy: join(cwd, "r", "policy.ckpt"),
  });
  // Every 500 steps, and once more for the policy that is kept.
  expect(report.evaluations.map((e: { steps: number }) => e.steps)).toEqual([500, 1000, 1200]);
  const files = readdirSync(join(cwd, "r"));
  for (const name of ["run.json", "training.ckpt", "training.previous.ckpt", "policy.ckpt", "evaluations.jsonl"]) {
    expect(files).toContain(name);
  }
  expect(files.some((name) => name.startsWith("events.out.tfevents."))).toBe(true);
  expect(JSON.parse(bytesOf("r/run.json").toString())).toMatchObject({
    train: { seed: 3, ppo: { hidden: [16] } },
    version: expect.any(String),
    commit: expect.any(String),
  });
  expect(bytesOf("r/evaluations.jsonl").toString().trim().split("\n")).toHaveLength(3);
});

test("a training that was stopped and resumed ends with the very policy of one that was not", async () => {
  await cli(["train", "CartPole-v1", "--steps", "2000", "--out", "whole"]);
  const stopped = await cli(["train", "CartPole-v1", "--steps", "2000", "--out", "cut"], { stopAt: '"steps":1000' });
  expect(stopped.stderr).toContain("`coxswain train --resume --out cut` goes on");
  expect(existsSync(join(cwd, "cut", "policy.ckpt"))).toBe(false);
  const resumed = await cli(["train", "--resume", "--out", "cut"]);
  expect(resumed.code).toBe(0);
  expect(bytesOf("cut/policy.ckpt").equals(bytesOf("whole/policy.ckpt"))).toBe(true);
  // It went on and did not begin again: no evaluation was made twice.
  const lines = bytesOf("cut/evaluations.jsonl").toString().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).steps)).toEqual([500, 1000, 1500, 2000]);
});

test("a damaged checkpoint is told and the one before it is used; two damaged ones are a failure", async () => {
  await cli(["train", "CartPole-v1", "--steps", "2000", "--out", "whole"]);
  await cli(["train", "CartPole-v1", "--steps", "2000", "--out", "cut"], { stopAt: '"steps":1000' });
  const damage = (name: string) => {
    const bytes = bytesOf(name);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 0x10;
    writeFileSync(join(cwd, name), bytes);
  };
  damage("cut/training.ckpt");
  const resumed = await cli(["train", "--resume", "--out", "cut"]);
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toContain("checkpoint refused, going on from the one before it");
  expect(bytesOf("cut/policy.ckpt").equals(bytesOf("whole/policy.ckpt"))).toBe(true);

  damage("cut/training.ckpt");
  damage("cut/training.previous.ckpt");
  const failed = await cli(["train", "--resume", "--out", "cut", "--json"]);
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stderr)).toMatchObject({
    code: "train.no-checkpoint",
    message: expect.stringContaining("training.previous.ckpt"),
  });
});

test("the same training comes of one thread, of two, and of a resumed one; in turn cannot become in rounds", async () => {
  await cli(["train", "CartPole-v1", "--steps", "2000", "--threads", "1", "--out", "one"]);
  await cli(["train", "CartPole-v1", "--steps", "2000", "--threads", "2", "--out", "two"]);
  expect(bytesOf("two/policy.ckpt").equals(bytesOf("one/policy.ckpt"))).toBe(true);
  const cut = ["train", "CartPole-v1", "--steps", "2000", "--threads", "2", "--out", "cut"];
  const stopped = await cli(cut, { stopAt: '"steps":1000' });
  expect(stopped.stderr).toContain("`coxswain train --resume --out cut` goes on");
  expect((await cli(["train", "--resume", "--out", "cut", "--threads", "1"])).code).toBe(0);
  expect(bytesOf("cut/policy.ckpt").equals(bytesOf("one/policy.ckpt"))).toBe(true);
  const refused = await cli(["train", "--resume", "--out", "cut", "--threads", "0"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("was started with --threads 1");
});

const evaluatedAt = (name: string) =>
  bytesOf(name)
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).steps);

test("going on from an older checkpoint repeats no evaluation and no half line", async () => {
  await cli(["train", "CartPole-v1", "--steps", "1000", "--out", "short"]);
  await cli(["train", "CartPole-v1", "--steps", "2000", "--out", "cut"]);
  const lines = bytesOf("cut/evaluations.jsonl").toString();
  // Killed in the middle of a line, with a checkpoint of step 1000.
  writeFileSync(join(cwd, "cut", "evaluations.jsonl"), `${lines}{"steps":2500,"me`);
  writeFileSync(join(cwd, "cut", "training.ckpt"), bytesOf("short/training.ckpt"));
  expect((await cli(["train", "--resume", "--out", "cut"])).code).toBe(0);
  expect(evaluatedAt("cut/evaluations.jsonl")).toEqual([500, 1000, 1500, 2000]);
});

test("going on from the end does not write the last evaluation twice, and going further keeps it", async () => {
  await cli(["train", "CartPole-v1", "--steps", "1200", "--out", "r"]);
  expect((await cli(["train", "--resume", "--out", "r"])).code).toBe(0);
  expect(evaluatedAt("r/evaluations.jsonl")).toEqual([500, 1000, 1200]);
  expect((await cli(["train", "--resume", "--steps", "1700", "--out", "r"])).code).toBe(0);
  expect(evaluatedAt("r/evaluations.jsonl")).toEqual([500, 1000, 1200, 1500, 1700]);
});

test("a folder that holds a training is not overwritten", async () => {
  await cli(["train", "CartPole-v1", "--steps", "600", "--out", "r"]);
  const { code, stderr } = await cli(["train", "CartPole-v1", "--steps", "600", "--out", "r"]);
  expect(code).toBe(2);
  expect(stderr).toContain("r holds a training already");
  expect(stderr).toContain("give --resume to go on with it");
});

test("--resume without a run is a failure that says what it needs", async () => {
  expect(await cli(["train", "--resume", "--out", "nothing"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--resume needs the folder of an earlier training"),
  });
  expect((await cli(["train", "--resume"])).code).toBe(2);
});

test("an unknown task fails with a suggestion before anything is written", async () => {
  const { code, stderr } = await cli(["train", "CartPol-v1", "--out", "r"]);
  expect(code).toBe(2);
  expect(stderr).toContain("did you mean 'CartPole-v1'?");
  expect(existsSync(join(cwd, "r"))).toBe(false);
});

test("a learner that cannot play the task says so in one sentence", async () => {
  const { code, stderr } = await cli(["train", "Pendulum-v1", "--algo", "dqn", "--out", "r", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr).code).not.toBe("internal.bug");
});

test("a wrong setting of an algorithm names file, line and rule", async () => {
  writeFileSync(join(cwd, "coxswain.yaml"), "train:\n  ppo:\n    streams: 1\n    minibatch: 5000\n");
  const { code, stderr } = await cli(["train", "CartPole-v1"]);
  expect(code).toBe(2);
  expect(stderr).toContain("coxswain.yaml:4: train.ppo.minibatch must be at most streams × rolloutSteps");
});

test("a saved policy is evaluated over seeds next to a random one, the same each time", async () => {
  await cli(["train", "CartPole-v1", "--steps", "3000", "--out", "r"]);
  const args = ["evaluate", "r/policy.ckpt", "--seeds", "3", "--episodes", "2", "--json"];
  const { code, stdout } = await cli(args);
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ algorithm: "ppo", task: "CartPole-v1", policy: { n: 3 }, random: { n: 3 } });
  expect(report.policy.perSeed).toHaveLength(3);
  expect(report.policy.mean).toBeGreaterThan(report.random.mean);
  expect((await cli(args)).stdout).toBe(stdout);
  // The resumable checkpoint holds the same policy.
  const other = JSON.parse((await cli(["evaluate", "r/training.ckpt", ...args.slice(2)])).stdout);
  expect(other.policy).toEqual(report.policy);
});

test("evaluating what is missing, damaged, or of another task fails clearly", async () => {
  await cli(["train", "CartPole-v1", "--steps", "600", "--out", "r"]);
  expect(await cli(["evaluate", "nowhere.ckpt"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nowhere.ckpt does not exist; check the path"),
  });
  expect(await cli(["evaluate", "r/policy.ckpt", "--task", "Pendulum-v1"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("name the task it was trained on"),
  });
  writeFileSync(join(cwd, "half.ckpt"), bytesOf("r/policy.ckpt").subarray(0, 1000));
  const { code, stderr } = await cli(["evaluate", "half.ckpt", "--task", "CartPole-v1", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr).code).toMatch(/^checkpoint\./);
  writeFileSync(join(cwd, "lone.ckpt"), bytesOf("r/policy.ckpt"));
  expect(await cli(["evaluate", "lone.ckpt"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("give --task"),
  });
});
