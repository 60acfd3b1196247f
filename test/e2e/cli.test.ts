import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { cleanEnv, executable, runCli } from "./run-cli.ts";

// Only what a process of its own can show; everything else about the commands is in src/cli/program.test.ts.

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("cli");
});

const cli = (...args: string[]) => runCli(args, { cwd });

test("without a command the help is printed, as data, and it worked", async () => {
  const { code, stdout, stderr } = await cli();
  expect(code).toBe(0);
  expect(stdout).toContain("Usage: coxswain");
  expect(stdout).toContain("Examples:");
  expect(stderr).toBe("");
});

test("with --json a usage error is exit code 2 and one JSON object on standard error", async () => {
  const { code, stdout, stderr } = await cli("completion", "tcsh", "--json");
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(JSON.parse(stderr)).toMatchObject({
    code: "usage.invalid",
    message: expect.stringContaining("bash, zsh, fish"),
    retry: false,
    hint: expect.any(String),
  });
});

test("an unknown key of a config file is exit code 2 and names file, line and the nearest key", async () => {
  writeFileSync(join(cwd, "bad.yaml"), "train:\n  sedd: 7\n");
  const { code, stderr } = await cli("config", "print", "--config", "bad.yaml");
  expect(code).toBe(2);
  expect(stderr).toBe("coxswain: bad.yaml:2: unknown key 'sedd' in 'train'; did you mean 'seed'?\n");
});

test("--version prints the bare version and version --json all facts", async () => {
  const { stdout } = await cli("--version");
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const facts = JSON.parse((await cli("version", "--json")).stdout);
  expect(facts).toMatchObject({ version: stdout.trim(), node: process.version, commit: expect.any(String) });
});

describe("pipes", () => {
  const stderrOf = async (child: ReturnType<typeof spawn>) => {
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { stderr, code };
  };

  test("a reader that has left does not cause an error", async () => {
    // `true` ends long before Node has started, so the first write already finds a closed pipe.
    const line = '"$0" "$1" config schema | true';
    const child = spawn("bash", ["-o", "pipefail", "-c", line, process.execPath, executable], {
      cwd,
      env: cleanEnv({}),
    });
    expect(await stderrOf(child)).toEqual({ stderr: "", code: 0 });
  });

  test("output closed before the first byte ends the command quietly", async () => {
    const child = spawn(process.execPath, [executable, "config", "schema"], { cwd, env: cleanEnv({}) });
    child.stdout?.destroy();
    expect(await stderrOf(child)).toEqual({ stderr: "", code: 0 });
  });
});

test("the bash completion script completes in a real bash", () => {
  const script = `
    coxswain() { "${process.execPath}" "${executable}" "$@"; }
    eval "$(coxswain completion bash)"
    COMP_WORDS=(coxswain config pr); COMP_CWORD=2
    compopt() { :; }
    _coxswain; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { cwd, env: cleanEnv({}), encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toBe("print\nprofile\n");
});

// In a process of its own: where this fails it hangs, and hears no signal but SIGKILL.
test
  .skipIf(!existsSync("/proc/self"))
  .each([
    [["pretrain", "--quick", "--out", "/proc/x"]],
    [["train", "--steps", "100", "--out", "/proc/x/y"]],
    [["reproduce", "rl-cartpole", "--quick", "--out", "/proc/x"]],
  ])("%j ends at once with one sentence", async (args) => {
  const { code, stdout, stderr } = await runCli(args, {
    cwd,
    whileRunning: (child) => void setTimeout(() => child.kill("SIGKILL"), 20_000).unref(),
  });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^coxswain: nothing can be written to \/proc\/x.*; name another folder\n$/);
});
