/**
 * Whole stores to and from Parquet, for dataframes and training sets. Any store, because it goes through the port;
 * DuckDB only writes and reads the file.
 *
 * Columns are the record's fields in snake case; vectors are BLOBs of little-endian float32
 * (`numpy.frombuffer(cell, "<f4")`). The schema version is in the file's key-value metadata.
 */

import { rm } from "node:fs/promises";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { BLOB, DOUBLE, DuckDBDataChunk, DuckDBInstance, INTEGER, VARCHAR } from "@duckdb/node-api";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { EpisodeEnd, TrajectoryRecord, TrajectoryStore } from "../../learn/trajectory/index.ts";
import { problemInRecords, RECORD_SCHEMA, schemaMismatch, throwIfProblem } from "../../learn/trajectory/index.ts";
import { storeFailure } from "./duckdb-errors.ts";
import { blobOf, CHUNK, fillColumn, numberIn, vectorIn } from "./duckdb-rows.ts";
import { checkImportable, IMPORT_BATCH, writeWhole } from "./exchange-file.ts";

const METADATA_KEY = "coxswain_trajectory_schema";

/** One per column, in the file's order. */
const COLUMNS = [
  { name: "episode", type: VARCHAR, of: (r: TrajectoryRecord): DuckDBValue => r.episode },
  { name: "agent", type: VARCHAR, of: (r: TrajectoryRecord): DuckDBValue => r.agent },
  { name: "step", type: INTEGER, of: (r: TrajectoryRecord): DuckDBValue => r.step },
  { name: "at_ms", type: DOUBLE, of: (r: TrajectoryRecord): DuckDBValue => r.at },
  { name: "log_prob", type: DOUBLE, of: (r: TrajectoryRecord): DuckDBValue => r.logProb },
  { name: "reward", type: DOUBLE, of: (r: TrajectoryRecord): DuckDBValue => r.reward },
  { name: '"end"', type: VARCHAR, of: (r: TrajectoryRecord): DuckDBValue => r.end },
  { name: "obs", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.obs) },
  { name: "proposed", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.proposed) },
  { name: "executed", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.executed) },
  { name: "final_obs", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.finalObs) },
  { name: "actor_context", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.actorContext) },
  { name: "critic_context", type: BLOB, of: (r: TrajectoryRecord): DuckDBValue => blobOf(r.criticContext) },
];
const NAMES = COLUMNS.map(({ name }) => name).join(", ");

/** Returns how many records were written. */
export function exportParquet(store: TrajectoryStore, path: string): Promise<number> {
  return writeWhole(path, async (part) => {
    // Parquet is written in one go, so the records are gathered in a scratch database next to the target first:
    // a store may be larger than memory.
    const scratch = `${path}.scratch`;
    try {
      return await withDatabase(scratch, async (connection) => {
        const written = await gather(connection, store);
        await connection.run(
          `COPY records TO ${quoted(part)}
           (FORMAT parquet, COMPRESSION zstd, KV_METADATA {${METADATA_KEY}: '${RECORD_SCHEMA}'})`,
        );
        return written;
      });
    } finally {
      await rm(scratch, { force: true });
      await rm(`${scratch}.wal`, { force: true });
    }
  });
}

/** Returns how many records were new to the store. */
export async function importParquet(store: TrajectoryStore, path: string): Promise<number> {
  await checkImportable(path);
  return withDatabase(":memory:", async (connection) => {
    try {
      await checkSchema(connection, path);
      const stream = await connection.stream(`SELECT ${NAMES} FROM read_parquet(${quoted(path)})`);
      let added = 0;
      let batch: TrajectoryRecord[] = [];
      for await (const rows of stream.yieldRows()) {
        const records = rows.map(recordIn);
        throwIfProblem(problemInRecords(records));
        batch = batch.concat(records);
        if (batch.length < IMPORT_BATCH) continue;
        added += (await store.append(batch)).added;
        batch = [];
      }
      return added + (await store.append(batch)).added;
    } catch (thrown) {
      throw thrown instanceof CodedError ? thrown : unreadable(path, thrown);
    }
  });
}

async function gather(connection: DuckDBConnection, store: TrajectoryStore): Promise<number> {
  await connection.run(`CREATE TABLE records (${COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ")})`);
  const appender = await connection.createAppender("records");
  const types = COLUMNS.map(({ type }) => type);
  let written = 0;
  for await (const batch of store.scan()) {
    for (let from = 0; from < batch.length; from += CHUNK) {
      const part = batch.slice(from, from + CHUNK);
      const chunk = DuckDBDataChunk.create(types, part.length);
      COLUMNS.forEach((column, i) => {
        fillColumn(chunk, i, part.map(column.of));
      });
      appender.appendDataChunk(chunk);
    }
    appender.flushSync();
    written += batch.length;
  }
  appender.closeSync();
  return written;
}

function recordIn(row: readonly DuckDBValue[]): TrajectoryRecord {
  const at = (column: number): DuckDBValue => row[column] ?? null;
  const none = new Float32Array(0);
  const finalObs = vectorIn(at(10));
  const actorContext = vectorIn(at(11));
  const criticContext = vectorIn(at(12));
  // A cell that should not be null becomes something that the check of the record refuses by name.
  return {
    episode: String(at(0)) as EpisodeId,
    agent: String(at(1)) as AgentId,
    step: numberIn(at(2)) ?? Number.NaN,
    at: (numberIn(at(3)) ?? Number.NaN) as Ms,
    logProb: numberIn(at(4)),
    reward: numberIn(at(5)),
    end: String(at(6)) as EpisodeEnd,
    obs: vectorIn(at(7)) ?? none,
    proposed: vectorIn(at(8)) ?? none,
    executed: vectorIn(at(9)) ?? none,
    ...(finalObs === undefined ? {} : { finalObs }),
    ...(actorContext === undefined ? {} : { actorContext }),
    ...(criticContext === undefined ? {} : { criticContext }),
  };
}

async function checkSchema(connection: DuckDBConnection, path: string): Promise<void> {
  const metadata = await connection.runAndReadAll(
    `SELECT decode(value) FROM parquet_kv_metadata(${quoted(path)}) WHERE decode(key) = '${METADATA_KEY}'`,
  );
  const version = metadata.getRowsJS()[0]?.[0];
  if (version !== String(RECORD_SCHEMA)) throw new CodedError(schemaMismatch(path, version ?? "of no kind"));
}

async function withDatabase<T>(path: string, job: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  try {
    const instance = await DuckDBInstance.create(path, { threads: "1" });
    const connection = await instance.connect();
    try {
      return await job(connection);
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  } catch (thrown) {
    throw storeFailure(thrown, { path, doing: "write" });
  }
}

function unreadable(path: string, cause: unknown): CodedError {
  return new CodedError(
    failure(
      "trajectory.parquet",
      `${path} cannot be read as an export of trajectories: it is damaged or has other columns; export it again`,
      { cause },
    ),
  );
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}
