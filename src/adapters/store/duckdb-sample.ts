/**
 * Uniform sampling of transitions without reading the table.
 * Rows are numbered in order of arrival, so drawing numbers and rejecting those that are no transition (pending, no
 * successor yet, forgotten, another agent's) is uniform over the rest. When too many are rejected, all transitions are
 * listed once and drawn from directly: slower, same distribution.
 */

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import type { AgentId, Rng } from "../../base/index.ts";
import type { TrajectoryRecord, Transition } from "../../learn/trajectory/index.ts";
import { transitionOf } from "../../learn/trajectory/index.ts";
import { RECORD_COLUMNS, recordsIn } from "./duckdb-rows.ts";

interface Draw {
  readonly count: number;
  readonly rng: Rng;
  readonly agent: AgentId | undefined;
}

interface Row {
  readonly key: number;
  readonly record: TrajectoryRecord;
}

const ROUNDS = 3;

export async function sampleTransitions(reader: DuckDBConnection, { count, rng, agent }: Draw): Promise<Transition[]> {
  const range = await reader.runAndReadAll("SELECT min(seq), max(seq) FROM records");
  const [first, last] = range.getRowsJS()[0] ?? [];
  if (count === 0 || first === null || first === undefined) return [];
  const low = Number(first);
  const span = Number(last) - low + 1;
  const sample: Transition[] = [];
  for (let round = 0; round < ROUNDS && sample.length < count; round++) {
    const missing = count - sample.length;
    const draws = Array.from({ length: missing + (missing >> 2) + 8 }, () => low + rng.int(span));
    const found = await transitionsAt(reader, draws, agent);
    for (const seq of draws) {
      const transition = found.get(seq);
      if (transition !== undefined && sample.length < count) sample.push(transition);
    }
    if (found.size * 20 < draws.length) break;
  }
  if (sample.length < count)
    sample.push(...(await sampleFromList(reader, { count: count - sample.length, rng, agent })));
  return sample;
}

async function sampleFromList(reader: DuckDBConnection, { count, rng, agent }: Draw): Promise<Transition[]> {
  // Mirrors `transitionOf`; the conformance suite holds the two together.
  const listed = await reader.runAndReadAll(
    `SELECT r.seq FROM records r JOIN episodes e ON e.key = r.episode
       LEFT JOIN records n ON n.episode = r.episode AND n.step = r.step + 1
     WHERE r.reward IS NOT NULL AND ${agent === undefined ? "true" : "e.agent = $1"} AND
       CASE r."end" WHEN 0 THEN n.seq IS NOT NULL WHEN 1 THEN true ELSE r.final_obs IS NOT NULL END
     ORDER BY r.seq`,
    agent === undefined ? [] : [agent],
  );
  const all = listed.getColumns()[0] ?? [];
  if (all.length === 0) return [];
  const draws = Array.from({ length: count }, () => Number(all[rng.int(all.length)]));
  const found = await transitionsAt(reader, draws, agent);
  return draws.map((seq) => found.get(seq)).filter((transition) => transition !== undefined);
}

/** The transitions among these row numbers. */
async function transitionsAt(
  reader: DuckDBConnection,
  draws: readonly number[],
  agent: AgentId | undefined,
): Promise<Map<number, Transition>> {
  // The next row is the successor more often than not, so it comes along in the same read.
  const rows = await rowsAt(reader, new Set(draws.flatMap((seq) => [seq, seq + 1])));
  const byStep = new Map<string, TrajectoryRecord>();
  for (const { key, record } of rows.values()) byStep.set(`${key} ${record.step}`, record);
  const drawn = [...new Set(draws)].flatMap((seq) => {
    const row = rows.get(seq);
    return row === undefined || (agent !== undefined && row.record.agent !== agent) ? [] : [{ seq, ...row }];
  });
  const apart = drawn.filter(({ key, record }) => {
    return record.reward !== null && record.end === "no" && !byStep.has(`${key} ${record.step + 1}`);
  });
  for (const { key, record } of await successors(reader, apart)) byStep.set(`${key} ${record.step}`, record);
  const transitions = new Map<number, Transition>();
  for (const { seq, key, record } of drawn) {
    const transition = transitionOf(record, byStep.get(`${key} ${record.step + 1}`));
    if (transition !== undefined) transitions.set(seq, transition);
  }
  return transitions;
}

/** Successors that lie elsewhere: their row numbers are found in the narrow columns, then only those rows are read. */
async function successors(reader: DuckDBConnection, rows: readonly Row[]): Promise<Iterable<Row>> {
  if (rows.length === 0) return [];
  const wanted = rows.map(({ key, record }) => `(${key},${record.step + 1})`).join(",");
  const found = await reader.runAndReadAll(
    `SELECT r.seq FROM (VALUES ${wanted}) w (episode, step) JOIN records r ON r.episode = w.episode AND r.step = w.step`,
  );
  return (await rowsAt(reader, new Set(found.getRows().map((row) => Number(row[0]))))).values();
}

async function rowsAt(reader: DuckDBConnection, seqs: ReadonlySet<number>): Promise<Map<number, Row>> {
  const rows = new Map<number, Row>();
  if (seqs.size === 0) return rows;
  // As literals, because a list of constants is pushed into the scan and a joined table is not.
  const found = await reader.runAndReadAll(
    `SELECT r.seq, r.episode, ${RECORD_COLUMNS} FROM records r JOIN episodes e ON e.key = r.episode
     WHERE r.seq IN (${[...seqs].join(",")})`,
  );
  const values: DuckDBValue[][] = found.getRows();
  recordsIn(values, 2).forEach((record, i) => {
    rows.set(Number(values[i]?.[0]), { key: Number(values[i]?.[1]), record });
  });
  return rows;
}
