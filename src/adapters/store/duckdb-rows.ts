/**
 * Records to and from DuckDB's column chunks.
 * Vectors are BLOBs of little-endian float32: as LISTs the same rows take many times as long (bench/store.bench.ts).
 */

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { BIGINT, BLOB, DOUBLE, DuckDBBlobValue, DuckDBDataChunk, INTEGER, UTINYINT } from "@duckdb/node-api";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import type { TrajectoryRecord } from "../../learn/trajectory/index.ts";
import { bytesToVector, EPISODE_ENDS, vectorToBytes } from "../../learn/trajectory/index.ts";

/** DuckDB's vector size: the most rows one chunk holds. */
const CHUNK = 2_048;
const TYPES = [BIGINT, INTEGER, INTEGER, DOUBLE, DOUBLE, DOUBLE, UTINYINT, BLOB, BLOB, BLOB, BLOB, BLOB, BLOB];

/** The columns `recordsIn` expects, of a row `r` of records joined with `e` of episodes. */
export const RECORD_COLUMNS = `e.id, e.agent, r.step, r.at_ms, r.log_prob, r.reward, r."end", r.obs, r.proposed, r.executed,
  r.final_obs, r.actor_context, r.critic_context`;

export interface NumberedRecord {
  /** The episode's number in this file. */
  readonly key: number;
  readonly record: TrajectoryRecord;
}

export async function appendRows(
  connection: DuckDBConnection,
  rows: readonly NumberedRecord[],
  firstSeq: number,
): Promise<void> {
  const appender = await connection.createAppender("records");
  try {
    for (let from = 0; from < rows.length; from += CHUNK) {
      appender.appendDataChunk(chunkOf(rows.slice(from, from + CHUNK), firstSeq + from));
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
}

function chunkOf(rows: readonly NumberedRecord[], firstSeq: number): DuckDBDataChunk {
  const chunk = DuckDBDataChunk.create(TYPES, rows.length);
  const fill = (column: number, item: (row: NumberedRecord, index: number) => DuckDBValue): void => {
    const vector = chunk.getColumnVector(column);
    rows.forEach((row, i) => {
      vector.setItem(i, item(row, i));
    });
    vector.flush();
  };
  fill(0, (_, i) => BigInt(firstSeq + i));
  fill(1, ({ key }) => key);
  fill(2, ({ record }) => record.step);
  fill(3, ({ record }) => record.at);
  fill(4, ({ record }) => record.logProb);
  fill(5, ({ record }) => record.reward);
  fill(6, ({ record }) => EPISODE_ENDS.indexOf(record.end));
  fill(7, ({ record }) => blobOf(record.obs));
  fill(8, ({ record }) => blobOf(record.proposed));
  fill(9, ({ record }) => blobOf(record.executed));
  fill(10, ({ record }) => blobOf(record.finalObs));
  fill(11, ({ record }) => blobOf(record.actorContext));
  fill(12, ({ record }) => blobOf(record.criticContext));
  return chunk;
}

export function blobOf(vector: Float32Array | undefined): DuckDBBlobValue | null {
  return vector === undefined ? null : new DuckDBBlobValue(vectorToBytes(vector));
}

/** The records in rows whose columns begin at `from` with RECORD_COLUMNS. */
export function recordsIn(rows: readonly (readonly DuckDBValue[])[], from = 0): TrajectoryRecord[] {
  return rows.map((row) => recordIn(row, from));
}

function recordIn(row: readonly DuckDBValue[], from: number): TrajectoryRecord {
  const at = (column: number): DuckDBValue => row[from + column] ?? null;
  const obs = vectorIn(at(7));
  const proposed = vectorIn(at(8));
  const executed = vectorIn(at(9));
  const end = EPISODE_ENDS[Number(at(6))];
  if (obs === undefined || proposed === undefined || executed === undefined || end === undefined) {
    throw new Error("corrupt row: a record without observation, action or known end");
  }
  const finalObs = vectorIn(at(10));
  const actorContext = vectorIn(at(11));
  const criticContext = vectorIn(at(12));
  return {
    episode: String(at(0)) as EpisodeId,
    agent: String(at(1)) as AgentId,
    step: Number(at(2)),
    at: Number(at(3)) as Ms,
    obs,
    proposed,
    executed,
    logProb: numberIn(at(4)),
    reward: numberIn(at(5)),
    end,
    ...(finalObs === undefined ? {} : { finalObs }),
    ...(actorContext === undefined ? {} : { actorContext }),
    ...(criticContext === undefined ? {} : { criticContext }),
  };
}

export function numberIn(value: DuckDBValue): number | null {
  return value === null ? null : Number(value);
}

export function vectorIn(value: DuckDBValue): Float32Array | undefined {
  return value instanceof DuckDBBlobValue ? bytesToVector(value.bytes) : undefined;
}
