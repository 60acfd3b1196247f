import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { failureOf, seededRng } from "../../base/index.ts";
import type { TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import { EPISODE_ENDS } from "../../learn/trajectory/index.ts";
import { openDuckdbStore } from "./duckdb.ts";
import { exportJsonl, importJsonl } from "./jsonl-file.ts";
import { memoryStore } from "./memory.ts";
import { exportParquet, importParquet } from "./parquet-file.ts";

let folder = "";
beforeEach(async () => {
  folder = temporaryFolder("transfer");
});

const rng = seededRng(5);
const vector = (length: number) => Float32Array.from({ length }, () => (rng.int(9) === 0 ? -0 : rng.normal()));

/** Every kind of record: pending and not, each end, with and without the optional vectors. */
const records: TrajectoryRecord[] = Array.from({ length: 300 }, (_, i) => ({
  episode: `e-${i % 7}` as EpisodeId,
  agent: `a-${i % 7}` as AgentId,
  step: Math.floor(i / 7),
  at: (1.7e12 + i / 3) as Ms,
  obs: vector(8),
  proposed: vector(5),
  executed: vector(5),
  logProb: i % 5 === 0 ? null : -rng.next(),
  reward: i % 4 === 0 ? null : rng.normal(),
  end: EPISODE_ENDS[i % 3] ?? "no",
  ...(i % 2 === 0 ? { actorContext: vector(2) } : {}),
  ...(i % 3 === 0 ? { criticContext: vector(3), finalObs: vector(8) } : {}),
}));

async function everything(store: TrajectoryStore): Promise<TrajectoryRecord[]> {
  const all: TrajectoryRecord[] = [];
  for await (const batch of store.scan()) all.push(...batch);
  return all.sort((a, b) => a.episode.localeCompare(b.episode) || a.step - b.step);
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no failure",
    (thrown) => failureOf(thrown)?.code ?? `uncoded: ${String(thrown)}`,
  );

describe.each([
  { name: "JSONL", write: exportJsonl, read: importJsonl, file: "t.jsonl" },
  { name: "Parquet", write: exportParquet, read: importParquet, file: "t.parquet" },
])("$name", ({ write, read, file }) => {
  test("brings every record back to the bit, into another kind of store, and leaves no other file", async () => {
    const from = memoryStore();
    await from.append(records);
    const path = join(folder, file);
    expect(await write(from, path)).toBe(300);
    expect(await readdir(folder)).toEqual([file]);
    const to = await openDuckdbStore({ path: join(folder, "to.duckdb") });
    expect(await read(to, path)).toBe(300);
    expect(await everything(to)).toStrictEqual(await everything(from));
    // A second import finds everything there already.
    expect(await read(to, path)).toBe(0);
    // And out again from DuckDB, which has its own order and its own reading.
    expect(await write(to, join(folder, `again-${file}`))).toBe(300);
    const back = memoryStore();
    await read(back, join(folder, `again-${file}`));
    expect(await everything(back)).toStrictEqual(await everything(from));
    await to.close();
  });

  test("an empty store makes a file that can be imported", async () => {
    const path = join(folder, file);
    expect(await write(memoryStore(), path)).toBe(0);
    expect(await read(memoryStore(), path)).toBe(0);
  });

  test("a missing file and an unwritable place are coded failures", async () => {
    expect(await codeOf(read(memoryStore(), join(folder, "nowhere")))).toBe("store.path");
    expect(await codeOf(write(memoryStore(), join(folder, "no", file)))).toBe("store.path");
  });
});

test("a bad line is named with its number, and what came before it can be imported again", async () => {
  const path = join(folder, "t.jsonl");
  const from = memoryStore();
  await from.append(records);
  await exportJsonl(from, path);
  const lines = (await readFile(path, "utf8")).split("\n");
  lines[41] = lines[41]?.replace('"step"', '"stepp"') ?? "";
  await writeFile(path, lines.join("\n"));
  await expect(importJsonl(memoryStore(), path)).rejects.toThrow(`${path}:42 has the unknown key 'stepp'`);
});

test("a Parquet file of another schema, of other columns or with damage is refused", async () => {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const made = async (name: string, select: string, schema: string) => {
    const path = join(folder, name);
    await connection.run(
      `COPY (${select}) TO '${path}' (FORMAT parquet, KV_METADATA {coxswain_trajectory_schema: '${schema}'})`,
    );
    return path;
  };
  expect(await codeOf(importParquet(memoryStore(), await made("a", "SELECT 1 AS x", "2")))).toBe("store.schema");
  expect(await codeOf(importParquet(memoryStore(), await made("b", "SELECT 1 AS x", "1")))).toBe("trajectory.parquet");
  await writeFile(join(folder, "c"), "no parquet");
  expect(await codeOf(importParquet(memoryStore(), join(folder, "c")))).toBe("trajectory.parquet");
  connection.closeSync();
  instance.closeSync();
});
