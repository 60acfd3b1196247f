/** `coxswain store serve` as a process, and an `up` that keeps its records there. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDuckdbStore } from "../../src/adapters/store/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { cleanEnv, executable, runCli } from "./run-cli.ts";

test("up keeps its records in the store that the settings name, and says where it is not there", async () => {
  const cwd = temporaryFolder("store");
  const child = spawn(process.execPath, [executable, "store", "serve", "kept.duckdb", "--port", "0"], {
    cwd,
    env: cleanEnv({}),
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => resolve(text.trim()));
    child.on("close", () => reject(new Error("it ended without an address")));
  });
  writeFileSync(join(cwd, "shared.yaml"), `store: { kind: remote, url: ${url} }\n`);
  const up = ["up", "--config", "shared.yaml", "--no-otlp", "--application", "none", "--port", "0"];
  const { code } = await runCli([...up, "--data", "plane", "--duration", "2", "--speed", "120", "--json"], { cwd });
  expect(code).toBe(0);
  expect(existsSync(join(cwd, "plane", "trajectories.duckdb"))).toBe(false);
  child.kill("SIGTERM");
  expect(await ended).toBe(143);
  const store = await openDuckdbStore({ path: join(cwd, "kept.duckdb") });
  expect((await store.counts()).records).toBeGreaterThan(0);
  await store.close();

  const exported = await runCli(["store", "export", "kept.duckdb", "steps.parquet", "--json"], { cwd });
  const { records } = JSON.parse(exported.stdout);
  expect(records).toBeGreaterThan(0);
  const imported = await runCli(["store", "import", "steps.parquet", "copy.duckdb", "--json"], { cwd });
  expect(JSON.parse(imported.stdout).records).toBe(records);
  expect((await runCli(["store", "export", "kept.duckdb", "steps.csv"], { cwd })).code).toBe(2);

  const gone = await runCli([...up, "--data", "plane", "--json"], { cwd });
  expect(gone.code).toBe(1);
  expect(JSON.parse(gone.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
    code: "store.unavailable",
    message: expect.stringContaining(url),
  });
  const memory = await runCli([...up, "--data", ":memory:", "--json"], { cwd });
  expect(memory.code).toBe(2);
}, 180_000);
