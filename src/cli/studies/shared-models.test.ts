import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { decodePretrained } from "../../learn/meta/index.ts";
import { quickPretraining, type SharedTraining } from "../../pretraining/index.ts";
import { createLogger } from "../log.ts";
import type { Session } from "../shell.ts";
import { trainModels } from "./shared-models.ts";

const data = temporaryFolder("models");

const silent = { write: () => true };
const session = (signal = new AbortController().signal): Session => ({
  stdout: silent,
  stderr: silent,
  env: {},
  cwd: data,
  signal,
  now: () => performance.now(),
  exitWith() {},
  log: createLogger({ level: "silent", sink: silent }),
});

const tiny = (seed: number): SharedTraining => ({
  applications: 1,
  seed,
  actions: "limits",
  pool: "held-out",
  config: {
    ...quickPretraining,
    meta: { ...quickPretraining.meta, hidden: 4, dense: [4], embedding: 3 },
    environmentsPerRound: 1,
    visits: 1,
    learnSteps: 1,
    settleSteps: 1,
  },
});

test("a model goes on where it was stopped, and is trained once for all that ask for the same", async () => {
  const options = { data, kernels: "wasm", workers: 1 } as const;
  const stop = new AbortController();
  stop.abort(new Error("stopped by hand"));
  const needs = { one: tiny(3) };
  await expect(trainModels(session(stop.signal), { ...options, needs })).rejects.toThrow("stopped by hand");
  const { one = "" } = await trainModels(session(), { ...options, needs });
  const model = decodePretrained(new Uint8Array(readFileSync(one)));
  expect(model.ok && model.value.pool.map(({ name }) => name)).toEqual(["known-3-0"]);

  const before = statSync(one).mtimeMs;
  expect(await trainModels(session(), { ...options, needs: { again: tiny(3) } })).toEqual({ again: one });
  expect(statSync(one).mtimeMs).toBe(before);
});
