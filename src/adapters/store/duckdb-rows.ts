/**
 * Records to and from DuckDB's column chunks.
 * What a query asks about has a column of its own; the vectors and the log-probability of a record share one BLOB,
 * because every BLOB is a call into the database and every LIST many (bench/store.bench.ts has the figures).
 *
 * The BLOB, in the machine's byte order, which is little-endian wherever DuckDB's binaries run: five u16 lengths (obs,
 * proposed, executed, actor and critic context; 0 means none), u16 unused, f64 log-probability (NaN means none), and the
 * float32 values one vector after the other.
 */

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { BIGINT, BLOB, DOUBLE, DuckDBBlobValue, DuckDBDataChunk, INTEGER, UTINYINT } from "@duckdb/node-api";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import type { TrajectoryRecord } from "../../learn/trajectory/index.ts";
import { bytesToVector, EPISODE_ENDS, vectorToBytes } from "../../learn/trajectory/index.ts";

/** DuckDB's vector size: the most rows one chunk holds. */
export const CHUNK = 2_048;
const TYPES = [BIGINT, INTEGER, INTEGER, DOUBLE, DOUBLE, UTINYINT, BLOB, BLOB];
const HEADER = 20;

/** The columns of `records`, in the order that `appendRows` fills. */
export const RECORD_TABLE = `seq BIGINT NOT NULL, episode INTEGER NOT NULL, step INTEGER NOT NULL, at_ms DOUBLE NOT NULL,
  reward DOUBLE, "end" UTINYINT NOT NULL, payload BLOB NOT NULL, final_obs BLOB`;

/** The columns `recordIn` expects, of a row `r` of records joined with `e` of episodes. */
export const RECORD_COLUMNS = `e.id, e.agent, r.step, r.at_ms, r.reward, r."end", r.payload, r.final_obs`;

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
  const payloads = payloadsOf(rows);
  fillColumn(
    chunk,
    0,
    rows.map((_, i) => BigInt(firstSeq + i)),
  );
  fillColumn(
    chunk,
    1,
    rows.map(({ key }) => key),
  );
  fillColumn(
    chunk,
    2,
    rows.map(({ record }) => record.step),
  );
  fillColumn(
    chunk,
    3,
    rows.map(({ record }) => record.at),
  );
  fillColumn(
    chunk,
    4,
    rows.map(({ record }) => record.reward),
  );
  fillColumn(
    chunk,
    5,
    rows.map(({ record }) => EPISODE_ENDS.indexOf(record.end)),
  );
  fillColumn(chunk, 6, payloads);
  fillColumn(
    chunk,
    7,
    rows.map(({ record }) => blobOf(record.finalObs)),
  );
  return chunk;
}

export function fillColumn(chunk: DuckDBDataChunk, column: number, values: readonly DuckDBValue[]): void {
  const vector = chunk.getColumnVector(column);
  for (let i = 0; i < values.length; i++) vector.setItem(i, values[i] ?? null);
  vector.flush();
}

/** One buffer for the whole chunk: thousands of small ones would be most of the garbage of an append. */
function payloadsOf(rows: readonly NumberedRecord[]): DuckDBBlobValue[] {
  let size = 0;
  for (const { record } of rows) size += payloadSize(record);
  const buffer = new ArrayBuffer(size);
  const view = new DataView(buffer);
  const lengths = new Uint16Array(buffer);
  const floats = new Float32Array(buffer);
  let at = 0;
  return rows.map(({ record }) => {
    const start = at;
    view.setFloat64(start + 12, record.logProb ?? Number.NaN, true);
    at += HEADER;
    const vectors = [record.obs, record.proposed, record.executed, record.actorContext, record.criticContext];
    for (let k = 0; k < 5; k++) {
      const vector = vectors[k];
      if (vector === undefined) continue;
      lengths[start / 2 + k] = vector.length;
      // Every part is a multiple of four bytes, so the floats are aligned. A loop beats `set` for vectors this short.
      const base = at / 4;
      for (let i = 0; i < vector.length; i++) floats[base + i] = vector[i] ?? 0;
      at += vector.length * 4;
    }
    return new DuckDBBlobValue(new Uint8Array(buffer, start, at - start));
  });
}

function payloadSize({ obs, proposed, executed, actorContext, criticContext }: TrajectoryRecord): number {
  const optional = (actorContext?.length ?? 0) + (criticContext?.length ?? 0);
  return HEADER + 4 * (obs.length + proposed.length + executed.length + optional);
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
  const end = EPISODE_ENDS[Number(at(5))];
  const payload = at(6);
  if (end === undefined || !(payload instanceof DuckDBBlobValue)) throw corrupt();
  const finalObs = vectorIn(at(7));
  return {
    episode: String(at(0)) as EpisodeId,
    agent: String(at(1)) as AgentId,
    step: Number(at(2)),
    at: Number(at(3)) as Ms,
    reward: numberIn(at(4)),
    end,
    ...unpacked(payload.bytes),
    ...(finalObs === undefined ? {} : { finalObs }),
  };
}

function unpacked(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER) throw corrupt();
  let at = HEADER;
  const next = (k: number): Float32Array | undefined => {
    const length = view.getUint16(2 * k, true);
    if (length === 0) return undefined;
    at += 4 * length;
    if (at > bytes.byteLength) throw corrupt();
    return bytesToVector(bytes.subarray(at - 4 * length, at));
  };
  const [obs, proposed, executed, actorContext, criticContext] = [next(0), next(1), next(2), next(3), next(4)];
  if (obs === undefined || proposed === undefined || executed === undefined) throw corrupt();
  const logProb = view.getFloat64(12, true);
  return {
    obs,
    proposed,
    executed,
    logProb: Number.isNaN(logProb) ? null : logProb,
    ...(actorContext === undefined ? {} : { actorContext }),
    ...(criticContext === undefined ? {} : { criticContext }),
  };
}

/** Read by duckdb-errors.ts as what it is. */
function corrupt(): Error {
  return new Error("corrupt row: a record without observation, action or known end");
}

export function numberIn(value: DuckDBValue): number | null {
  return value === null ? null : Number(value);
}

export function vectorIn(value: DuckDBValue): Float32Array | undefined {
  return value instanceof DuckDBBlobValue ? bytesToVector(value.bytes) : undefined;
}
