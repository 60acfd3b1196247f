/**
 * Whole stores to and from files: JSONL for people, Parquet for dataframes and training sets.
 * Works on any store, because it goes through the port. A file appears under its name only when it is complete.
 * An import is a sequence of appends, so an import that broke off can simply be repeated.
 *
 * Parquet columns are the record's fields in snake case; vectors are BLOBs of little-endian float32
 * (`numpy.frombuffer(cell, "<f4")`). The schema version is in the file's key-value metadata.
 */

import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { DuckDBInstance } from "@duckdb/node-api";
import { CodedError, failure } from "../../base/index.ts";
import type { TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import {
  lineToRecord,
  problemInRecords,
  RECORD_SCHEMA,
  recordToLine,
  schemaMismatch,
  throwIfProblem,
} from "../../learn/trajectory/index.ts";
import { storeFailure } from "./duckdb-errors.ts";
import { appendRows, recordsIn } from "./duckdb-rows.ts";

/** Records per append of an import. */
const BATCH = 8_192;
const METADATA_KEY = "coxswain_trajectory_schema";
const PARQUET_COLUMNS = `episode, agent, step, at_ms, log_prob, reward, "end", obs, proposed, executed, final_obs, actor_context, critic_context`;

/** Returns how many records were written. */
export function exportJsonl(store: TrajectoryStore, path: string): Promise<number> {
  return writing(path, async (part) => {
    let written = 0;
    async function* lines(): AsyncIterable<string> {
      for await (const batch of store.scan()) {
        written += batch.length;
        yield `${batch.map(recordToLine).join("\n")}\n`;
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(part));
    return written;
  });
}

/** Returns how many records were new to the store. */
export async function importJsonl(store: TrajectoryStore, path: string): Promise<number> {
  await checkReadable(path);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let added = 0;
  let number = 0;
  let batch: TrajectoryRecord[] = [];
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    batch.push(lineToRecord(line, `${path}:${number}`));
    if (batch.length < BATCH) continue;
    added += (await store.append(batch)).added;
    batch = [];
  }
  return added + (await store.append(batch)).added;
}

export function exportParquet(store: TrajectoryStore, path: string): Promise<number> {
  return writing(path, async (part) => {
    // Parquet is written in one go, so the records are gathered in a scratch database next to the target first.
    const scratch = `${path}.scratch`;
    try {
      return await withDatabase(scratch, async (connection) => {
        const written = await gather(connection, store);
        await connection.run(
          `COPY (SELECT e.id AS episode, e.agent, r.step, r.at_ms, r.log_prob, r.reward,
                   CASE r."end" WHEN 0 THEN 'no' WHEN 1 THEN 'terminated' ELSE 'truncated' END AS "end",
                   r.obs, r.proposed, r.executed, r.final_obs, r.actor_context, r.critic_context
                 FROM records r JOIN episodes e ON e.key = r.episode ORDER BY r.seq)
           TO ${quoted(part)} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {${METADATA_KEY}: '${RECORD_SCHEMA}'})`,
        );
        return written;
      });
    } finally {
      await rm(scratch, { force: true });
      await rm(`${scratch}.wal`, { force: true });
    }
  });
}

export async function importParquet(store: TrajectoryStore, path: string): Promise<number> {
  await checkReadable(path);
  return withDatabase(":memory:", async (connection) => {
    try {
      await checkParquet(connection, path);
      const stream = await connection.stream(
        `SELECT ${PARQUET_COLUMNS.replace('"end"', ENDS_AS_NUMBERS)} FROM read_parquet(${quoted(path)})`,
      );
      let added = 0;
      let batch: TrajectoryRecord[] = [];
      for await (const rows of stream.yieldRows()) {
        const records = recordsIn(rows);
        throwIfProblem(problemInRecords(records));
        batch = batch.concat(records);
        if (batch.length < BATCH) continue;
        added += (await store.append(batch)).added;
        batch = [];
      }
      return added + (await store.append(batch)).added;
    } catch (thrown) {
      throw thrown instanceof CodedError ? thrown : unreadable(path, thrown);
    }
  });
}

const ENDS_AS_NUMBERS = `CASE "end" WHEN 'no' THEN 0 WHEN 'terminated' THEN 1 WHEN 'truncated' THEN 2 ELSE 255 END`;

async function gather(connection: DuckDBConnection, store: TrajectoryStore): Promise<number> {
  await connection.run(`CREATE TABLE episodes (key INTEGER, id VARCHAR, agent VARCHAR);
    CREATE TABLE records (seq BIGINT, episode INTEGER, step INTEGER, at_ms DOUBLE, log_prob DOUBLE, reward DOUBLE,
      "end" UTINYINT, obs BLOB, proposed BLOB, executed BLOB, final_obs BLOB, actor_context BLOB, critic_context BLOB)`);
  let written = 0;
  let key = -1;
  let last = "";
  const episodes = await connection.createAppender("episodes");
  for await (const batch of store.scan()) {
    const rows = batch.map((record) => {
      if (record.episode !== last) {
        last = record.episode;
        key += 1;
        episodes.appendInteger(key);
        episodes.appendVarchar(record.episode);
        episodes.appendVarchar(record.agent);
        episodes.endRow();
      }
      return { key, record };
    });
    await appendRows(connection, rows, written);
    written += batch.length;
  }
  episodes.flushSync();
  episodes.closeSync();
  return written;
}

async function checkParquet(connection: DuckDBConnection, path: string): Promise<void> {
  const metadata = await connection.runAndReadAll(
    `SELECT decode(value) FROM parquet_kv_metadata(${quoted(path)}) WHERE decode(key) = '${METADATA_KEY}'`,
  );
  const version = metadata.getRowsJS()[0]?.[0];
  if (version !== String(RECORD_SCHEMA)) throw new CodedError(schemaMismatch(path, version ?? "of no kind"));
}

async function withDatabase<T>(path: string, job: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(path, { threads: "1" }).catch((thrown: unknown) => {
    throw storeFailure(thrown, { path, doing: "write" });
  });
  const connection = await instance.connect();
  try {
    return await job(connection);
  } catch (thrown) {
    throw storeFailure(thrown, { path, doing: "export" });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function writing(path: string, job: (part: string) => Promise<number>): Promise<number> {
  const part = `${path}.part`;
  try {
    const written = await job(part);
    await rename(part, path);
    return written;
  } catch (thrown) {
    await rm(part, { force: true });
    throw storeFailure(thrown, { path, doing: "export to" });
  }
}

async function checkReadable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return;
  throw new CodedError(failure("store.path", `there is no file ${path} to import; check the path`));
}

function unreadable(path: string, cause: unknown): CodedError {
  return new CodedError(
    failure(
      "trajectory.parquet",
      `${path} can not be read as an export of trajectories: it is damaged or has other columns; export it again`,
      { cause },
    ),
  );
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}
