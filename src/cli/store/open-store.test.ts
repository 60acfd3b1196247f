import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { memoryStore, serveStore } from "../../adapters/store/index.ts";
import { CodedError, unwrap } from "../../base/index.ts";
import { configSchema, loadConfig } from "../config/index.ts";
import { openStore, storeChoice } from "./open-store.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("store");
});

function chosen(lines: readonly string[], env: Readonly<Record<string, string>> = {}) {
  writeFileSync(join(cwd, "own.yaml"), `store:\n${lines.map((line) => `  ${line}\n`).join("")}`);
  return storeChoice({ cwd }, loadConfig({ schema: configSchema, env, cwd, file: "own.yaml" }).config.store);
}

function refusal(lines: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  try {
    chosen(lines, env);
  } catch (thrown) {
    if (thrown instanceof CodedError) return `${thrown.failure.code}: ${thrown.message}`;
    throw thrown;
  }
  throw new Error("it was accepted");
}

const v2 = ["kind: influxdb", "url: http://db:8086", "influxdb: { organisation: us, bucket: agents }"];

test("the settings become the options of one store, with the secret of its file or of the environment", () => {
  expect(storeChoice({ cwd }, configSchema.parse({}).store)).toEqual({ kind: "embedded" });
  writeFileSync(join(cwd, "token"), "s3cret\n");
  const influx = { version: 2, url: "http://db:8086", timeout: 30_000, organisation: "us", bucket: "agents" };
  expect(chosen([...v2, "secretFile: token"])).toEqual({ kind: "influxdb", options: { ...influx, token: "s3cret" } });
  expect(chosen([...v2, "timeoutSeconds: 2"], { COXSWAIN_STORE_SECRET: "other" })).toEqual({
    kind: "influxdb",
    options: { ...influx, timeout: 2_000, token: "other" },
  });
  const v1 = ["kind: influxdb", "url: http://db:8086", "influxdb: { version: 1, database: agents, user: ann }"];
  expect(chosen([...v1, "secretFile: token"])).toEqual({
    kind: "influxdb",
    options: {
      version: 1,
      url: "http://db:8086",
      timeout: 30_000,
      database: "agents",
      user: "ann",
      password: "s3cret",
    },
  });
  expect(chosen(["kind: remote", "url: http://127.0.0.1:7072"])).toEqual({
    kind: "remote",
    options: { url: "http://127.0.0.1:7072", timeout: 30_000 },
  });
});

test.each([
  [["kind: remote"], "config.invalid: store.url must be an http address where 'kind' is remote"],
  [v2.slice(0, 2), "config.invalid: store.influxdb.organisation must be named for version 2"],
  [v2, "usage.invalid: the store is InfluxDB 2, which needs a token"],
  [[...v2, "secretFile: nowhere"], "store.secret-file: the store's secret in nowhere cannot be read (ENOENT)"],
  [
    [...v2, "secret: s3cret"],
    "config.secret-in-file: own.yaml:5: store.secret may not stand in a settings file; set COXSWAIN_STORE_SECRET instead",
  ],
])("%j is refused in one sentence", (lines, says) => {
  expect(refusal(lines)).toContain(says);
});

test("the embedded store is a file of the data folder, or in memory where there is none", async () => {
  const inFolder = unwrap(await openStore({ kind: "embedded" }, cwd));
  expect(existsSync(join(cwd, "trajectories.duckdb"))).toBe(true);
  await inFolder.store.close();
  const inMemory = unwrap(await openStore({ kind: "embedded" }, null));
  expect(await inMemory.store.counts()).toEqual({ episodes: 0, records: 0, pending: 0 });
  expect(inMemory.mostRecords).toBeLessThan(inFolder.mostRecords);
});

test("a remote store is asked once before it counts as open, and its owner decides what is forgotten", async () => {
  const server = await serveStore({ store: memoryStore() });
  const { store, mostRecords } = unwrap(await openStore({ kind: "remote", options: { url: server.url } }, cwd));
  expect(mostRecords).toBe(Number.POSITIVE_INFINITY);
  await store.close();
  await server.close();
  const gone = await openStore({ kind: "remote", options: { url: server.url } }, cwd);
  expect(gone).toMatchObject({ ok: false, failure: { code: "store.unavailable", retry: true } });
});

test("an InfluxDB that does not answer is one failure", async () => {
  const options = { version: 1, url: "http://127.0.0.1:1", database: "agents" } as const;
  const opened = await openStore({ kind: "influxdb", options }, cwd);
  expect(opened).toMatchObject({ ok: false, failure: { code: "store.unavailable" } });
});
