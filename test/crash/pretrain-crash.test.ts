/** Pre-training as a process: killed without warning, and gone on with. */

import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../e2e/run-cli.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";

const cwd = temporaryFolder("pretrain");
const small = ["--quick", "--applications", "2", "--visits", "2", "--width", "8", "--checkpoint-seconds", "0"];
const digest = (folder: string, file: string) =>
  createHash("sha256")
    .update(readFileSync(join(cwd, folder, file)))
    .digest("hex");

/** SIGKILL at the n-th time that the file is new. */
function killAt(path: string, times: number) {
  return (child: ChildProcess) => {
    let seen = "";
    let left = times;
    const timer = setInterval(() => {
      if (child.exitCode !== null || child.signalCode !== null) return clearInterval(timer);
      if (!existsSync(path)) return;
      const { ino, mtimeMs } = statSync(path);
      if (`${ino} ${mtimeMs}` === seen) return;
      seen = `${ino} ${mtimeMs}`;
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      child.kill("SIGKILL");
    }, 2);
  };
}

test("killed before its first checkpoint and between later ones, it ends with the bytes of one that was not", async () => {
  const whole = await runCli(["pretrain", ...small, "--threads", "1", "--out", "whole", "--json"], { cwd });
  expect(whole.stderr).toBe("");
  expect(whole.code).toBe(0);
  const report = JSON.parse(whole.stdout) as { rounds: number; map: { members: unknown[] }; curves: unknown[] };
  expect(report.map.members).toHaveLength(2);
  // Two applications fit in one round: warm-up, two visits, refresh, settling, evaluation.
  expect({ rounds: report.rounds, curves: report.curves.length }).toEqual({ rounds: 6, curves: 2 });

  const folder = join(cwd, "cut");
  const again = ["pretrain", "--resume", "--out", "cut", "--checkpoint-seconds", "0", "--threads", "2"];
  const killed = [
    await runCli(["pretrain", ...small, "--threads", "2", "--out", "cut"], {
      cwd,
      whileRunning: killAt(join(folder, "run.json"), 1),
    }),
    // At its second checkpoint: the first one is there, and so is the one before the last.
    await runCli(again, { cwd, whileRunning: killAt(join(folder, "training.ckpt"), 2) }),
  ];
  expect(killed.map(({ code }) => code)).toEqual([null, null]);
  const resumed = await runCli(again, { cwd });
  expect(resumed.stderr).toBe("");
  expect(resumed.code).toBe(0);
  for (const file of ["training.ckpt", "model.ckpt"]) expect(digest("cut", file), file).toBe(digest("whole", file));
  for (const file of ["report.json", "return.svg", "loss.svg", "map-sensitivity.svg", "map-shape.svg"])
    expect(existsSync(join(folder, file)), file).toBe(true);
}, 300_000);

test("a folder that holds a training is not begun anew, and one that holds none cannot be resumed", async () => {
  const taken = await runCli(["pretrain", ...small, "--out", "whole", "--json"], { cwd });
  expect(taken.code).toBe(2);
  expect(JSON.parse(taken.stderr)).toMatchObject({ message: expect.stringContaining("holds a training already") });
  const none = await runCli(["pretrain", "--resume", "--out", "nowhere", "--json"], { cwd });
  expect(none.code).toBe(2);
  expect(JSON.parse(none.stderr)).toMatchObject({ code: "train.no-run" });
});
