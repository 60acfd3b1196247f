import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folders/temporary-folder.ts";
import { run } from "./program.ts";
import type { Shell } from "./shell.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("program");
});

async function cli(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: { PATH: process.env.PATH, ...env },
    cwd,
    signal: new AbortController().signal,
    now: () => performance.now(),
    exitWith() {},
  };
  const code = await run(shell, args);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

describe("usage", () => {
  test.each([
    "up",
    "demo",
    "reproduce",
    "train",
    "evaluate",
    "inject",
    "trace critical-path",
    "bench",
    "doctor",
    "config print",
    "config schema",
    "config profile",
    "completion",
    "version",
  ])("%s explains itself and takes --json", async (command) => {
    const { code, stdout } = await cli([...command.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("--json");
  });

  test("a workload's profile is printed with its defaults, or refused with its line and exit code 2", async () => {
    const bounds = "bounds: { replicas: { max: 3 }, cpu: { min: 100m, max: 1 }, memory: { min: 64Mi, max: 1Gi } }";
    writeFileSync(join(cwd, "shop.yaml"), `workload: shop\nslo: none\n${bounds}\n`);
    const good = await cli(["config", "profile", "shop.yaml"]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(good.stdout).toContain("mode: recommend");
    writeFileSync(join(cwd, "shop.yaml"), `workload: shop\nslo: none\n${bounds}\nmode: yolo\n`);
    const bad = await cli(["config", "profile", "shop.yaml"]);
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toContain("shop.yaml:4: mode is not valid");
    const { stdout } = await cli(["config", "schema", "--profile"]);
    expect(JSON.parse(stdout)).toMatchObject({ required: ["workload", "slo", "bounds"] });
  });

  test("a misspelt command is a usage error of one sentence with a suggestion", async () => {
    const { code, stdout, stderr } = await cli(["docter"]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr.split("\n")[0]).toBe("coxswain: unknown command 'docter'; did you mean 'doctor'?");
  });

  test("a misspelt option is a usage error with a suggestion", async () => {
    const { code, stderr } = await cli(["reproduce", "--qick"]);
    expect(code).toBe(2);
    expect(stderr).toContain("coxswain: unknown option '--qick'; did you mean '--quick'?");
  });

  test("a value that an option does not take says what it takes", async () => {
    const { code, stderr } = await cli(["reproduce", "x", "--seeds", "many"]);
    expect(code).toBe(2);
    expect(stderr).toContain("expected a whole number from 1 on");
  });

  test("an unknown bench is a usage error", async () => {
    expect(await cli(["bench", "no-such-bench-at-all"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no bench 'no-such-bench-at-all'"),
    });
  });
});

describe("reproduce, before anything runs", () => {
  const tiny = fileURLToPath(new URL("../../test/e2e/fixtures/tiny-studies.mjs", import.meta.url));
  const reproduce = (...args: string[]) => cli(["reproduce", ...args, "--module", tiny]);

  test("--list names the package's studies and those of a module", async () => {
    const { code, stdout } = await reproduce("--list", "--json");
    expect(code).toBe(0);
    const ids = JSON.parse(stdout).map((study: { id: string }) => study.id);
    expect(ids).toEqual(expect.arrayContaining(["rl-cartpole", "coin", "coin-overclaimed"]));
  });

  test("an unknown study is a usage error with a suggestion", async () => {
    expect(await reproduce("coin-brokn")).toMatchObject({
      code: 2,
      stderr: "coxswain: there is no study 'coin-brokn'; did you mean 'coin-broken'?\n",
    });
  });

  test("neither a study nor --all, or both, is a usage error", async () => {
    expect((await reproduce()).code).toBe(2);
    expect((await reproduce("coin", "--all")).code).toBe(2);
  });

  test("a module that exports no studies says what it should export, one with a known id what to do", async () => {
    writeFileSync(join(cwd, "empty.mjs"), "export const nothing = 1;\n");
    expect(await cli(["reproduce", "coin", "--module", "empty.mjs"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("export const studies = [myStudy]"),
    });
    expect(await cli(["reproduce", "coin", "--module", tiny, tiny])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is a study 'coin' already; rename this one"),
    });
  });
});

describe("config", () => {
  test("every value says where it came from", async () => {
    writeFileSync(join(cwd, "coxswain.yaml"), "train:\n  seed: 7\n  steps: 50000\n");
    const args = ["config", "print", "--show-origin", "--json", "--log-level", "warn"];
    const { code, stdout } = await cli(args, { COXSWAIN_TRAIN_STEPS: "60000", COXSWAIN_KERNELS: "wasm" });
    expect(code).toBe(0);
    const settings = JSON.parse(stdout).settings as { setting: string; value: unknown; origin: string }[];
    const by = new Map(settings.map(({ setting, value, origin }) => [setting, { value, origin }]));
    expect(by.get("train.seed")).toEqual({ value: 7, origin: "coxswain.yaml:2" });
    expect(by.get("train.steps")).toEqual({ value: 60000, origin: "COXSWAIN_TRAIN_STEPS" });
    expect(by.get("runtime.kernels")).toEqual({ value: "wasm", origin: "COXSWAIN_KERNELS" });
    expect(by.get("log.level")).toEqual({ value: "warn", origin: "--log-level" });
    expect(by.get("data")).toEqual({ value: ".coxswain", origin: "default" });
  });

  test("settings that are known to work for the task replace the algorithm's defaults", async () => {
    const args = ["config", "print", "--show-origin", "--json"];
    const { stdout } = await cli(args, { COXSWAIN_TRAIN_TASK: "Pendulum-v1", COXSWAIN_TRAIN_ALGO: "ddpg" });
    const settings = JSON.parse(stdout).settings as { setting: string; value: unknown; origin: string }[];
    const gamma = settings.find(({ setting }) => setting === "train.ddpg.gamma");
    expect(gamma).toEqual({ setting: "train.ddpg.gamma", value: 0.98, origin: "tuned for ddpg on Pendulum-v1" });
  });

  test("what is printed can be read back and means the same", async () => {
    const printed = (await cli(["config", "print"], { COXSWAIN_TRAIN_SEED: "9" })).stdout;
    writeFileSync(join(cwd, "again.yaml"), printed);
    expect((await cli(["config", "print", "--config", "again.yaml"])).stdout).toBe(printed);
  });

  test("the schema is JSON Schema and knows every setting", async () => {
    const schema = JSON.parse((await cli(["config", "schema"])).stdout);
    expect(schema.properties.log.properties.level.enum).toContain("debug");
    expect(schema.additionalProperties).toBe(false);
  });

  test("a misspelt variable is warned of in the log, as JSON on standard error", async () => {
    const { code, stderr } = await cli(["config", "print"], { COXSWAIN_LOG_LEVL: "debug" });
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      level: "warn",
      found: expect.stringContaining("did you mean 'COXSWAIN_LOG_LEVEL'?"),
    });
  });
});

describe("doctor", () => {
  test("it lists findings with a status each, and advice for what is missing", async () => {
    const { code, stdout } = await cli(["doctor", "--json"]);
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { id: string; status: string; found: string; advice?: string }[];
    };
    expect(code).toBe(ok ? 0 : 1);
    const ids = findings.map((finding) => finding.id);
    const expected = ["node", "cores", "memory", "kernels", "threads", "duckdb", "disk", "cgroups", "torch", "kubectl"];
    expect(ids).toEqual(expect.arrayContaining(expected));
    expect(findings.find((finding) => finding.id === "node")).toMatchObject({ status: "ok", found: process.version });
    expect(findings.find((finding) => finding.id === "threads")).toMatchObject({ status: "ok", found: "work" });
    for (const finding of findings) if (finding.status !== "ok") expect(finding.advice).toBeTruthy();
  });

  test("a data folder that cannot be written is bad, and the exit code says so", async () => {
    writeFileSync(join(cwd, "file"), "");
    const { code, stdout } = await cli(["doctor", "--json"], { COXSWAIN_DATA: join(cwd, "file", "data") });
    expect(code).toBe(1);
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(findings.find((finding: { id: string }) => finding.id === "disk")).toMatchObject({
      status: "bad",
      found: "not writable (ENOTDIR)",
    });
  });

  test("colours are left out when NO_COLOR is set and put in when forced", async () => {
    const forced = await cli(["doctor"], { FORCE_COLOR: "1" });
    expect(forced.stdout).toContain("\u001b[32mok");
    const plain = await cli(["doctor"], { FORCE_COLOR: "1", NO_COLOR: "1" });
    expect(plain.stdout).not.toContain("\u001b[");
  });
});

describe("completion", () => {
  const complete = async (...words: string[]) => {
    const { stdout } = await cli(["__complete", "--", ...words]);
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]]));
  };

  test("commands, options and values complete", async () => {
    expect(await complete("do")).toEqual(["doctor"]);
    expect(await complete("config", "")).toEqual(["print", "schema", "profile"]);
    expect(await complete("reproduce", "--se")).toEqual(["--seeds"]);
    expect(await complete("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await complete("doctor", "--log-level", "w")).toEqual(["warn"]);
    expect(await complete("doctor", "--log-level", "warn", "--js")).toEqual(["--json"]);
  });

  test("environments complete for train", async () => {
    expect(await complete("train", "Cart")).toEqual(["CartPole-v1"]);
  });

  test("hidden commands stay hidden", async () => {
    expect(await complete("")).not.toContain("__complete");
    expect(await complete("")).toContain("doctor");
  });

  test.each(["bash", "zsh", "fish"])("%s gets a script that asks the program", async (shell) => {
    const { code, stdout } = await cli(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("coxswain __complete");
  });
});

describe("a name that nothing has is a mistake of the command line: exit code 2", () => {
  test.each([
    [["nonsense"]],
    [["train", "NoSuch-v1"]],
    [["train", "--algo", "nonsense"]],
    [["train", "--resume", "--out", "nowhere"]],
    [["pretrain", "--resume", "--out", "nowhere"]],
    [["evaluate", "nowhere.ckpt"]],
    [["reproduce", "nonsense"]],
    [["reproduce", "--list", "--module", "nowhere.mjs"]],
    [["bench", "nonsense"]],
    [["inject", "nowhere.yaml"]],
    [["trace", "critical-path", "nowhere.json"]],
    [["trace", "localize", "nowhere.json"]],
    [["store", "export", "nowhere.duckdb", "x.parquet"]],
    [["store", "import", "nowhere.parquet", "x.duckdb"]],
    [["config", "profile", "nowhere.yaml"]],
    [["config", "print", "--config", "nowhere.yaml"]],
    [["up", "--application", "nonsense"]],
    [["up", "--token-file", "nowhere"]],
    [["up", "--config", "world.yaml"]],
    [["env", "serve", "--token-file", "nowhere"]],
  ])("%j", async (args) => {
    writeFileSync(join(cwd, "world.yaml"), "world: nonsense\n");
    const { code, stdout, stderr } = await cli(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^coxswain: .*(?:nonsense|NoSuch-v1|nowhere)/);
    expect(readdirSync(cwd)).toEqual(["world.yaml"]);
  });
});

describe("an empty value is refused, whatever it is for", () => {
  test.each([
    [["up", "--data", "", "--duration", "0.1"], "--data"],
    [["up", "--data", " ", "--duration", "0.1"], "--data"],
    [["up", "--host", "", "--data", ":memory:", "--duration", "0.1"], "--host"],
    [["up", "--token-file", "", "--data", ":memory:", "--duration", "0.1"], "--token-file"],
    [["up", "--shared-model", "", "--data", ":memory:", "--duration", "0.1"], "--shared-model"],
    [["train", "--steps", "1", "--out", ""], "--out"],
    [["pretrain", "--quick", "--resume", "--out", ""], "--out"],
    [["reproduce", "--list", "--out", ""], "--out"],
    [["reproduce", "--list", "--module", ""], "--module"],
    [["config", "print", "--config", ""], "--config"],
    [["config", "profile", ""], "files"],
    [["evaluate", ""], "checkpoint"],
  ])("%j", async (args, named) => {
    const { code, stdout, stderr } = await cli(args, { XDG_STATE_HOME: join(cwd, "state") });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`coxswain: ${named} is given an empty value`);
    expect(readdirSync(cwd)).toEqual([]);
  });
});
