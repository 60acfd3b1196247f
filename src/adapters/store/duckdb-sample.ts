/**
 * Uniform sampling of transitions without reading the table.
 * Rows are numbered in order of arrival, so drawing numbers and rejecting those that are no transition (pending, no
 * successor yet, forgotten, another agent's) is uniform over the rest. When too many are rejected, all transitions are
 * listed once and drawn from directly: slower, same distribution.
 */

import type { DuckDBConnection } from "@duckdb/node-api";
import { BIGINT, LIST, listValue } from "@duckdb/node-api";
import type { AgentId, Rng } from "../../base/index.ts";
import type { Transition } from "../../learn/trajectory/index.ts";
import { RECORD_COLUMNS, recordsIn, vectorIn } from "./duckdb-rows.ts";

interface Draw {
  readonly count: number;
  readonly rng: Rng;
  readonly agent?: AgentId;
}

const ROUNDS = 3;
const NEXT_COLUMN = 14;

/** Mirrors `transitionOf` of learn/trajectory: the conformance suite holds the two together. */
const ELIGIBLE = `r.reward IS NOT NULL AND CASE r."end" WHEN 0 THEN n.episode IS NOT NULL WHEN 1 THEN true ELSE r.final_obs IS NOT NULL END`;
const SOURCE = `records r JOIN episodes e ON e.key = r.episode
  LEFT JOIN records n ON n.episode = r.episode AND n.step = r.step + 1`;

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
    const found = await fetchTransitions(reader, draws, agent);
    for (const seq of draws) {
      const transition = found.get(seq);
      if (transition !== undefined && sample.length < count) sample.push(transition);
    }
    if (found.size * 20 < draws.length) break;
  }
  if (sample.length < count)
    sample.push(
      ...(await sampleFromList(reader, {
        count: count - sample.length,
        rng,
        ...(agent === undefined ? {} : { agent }),
      })),
    );
  return sample;
}

async function sampleFromList(reader: DuckDBConnection, { count, rng, agent }: Draw): Promise<Transition[]> {
  const listed = await reader.runAndReadAll(
    `SELECT r.seq FROM ${SOURCE} WHERE ${ELIGIBLE} ${agent === undefined ? "" : "AND e.agent = $1"} ORDER BY r.seq`,
    agent === undefined ? [] : [agent],
  );
  const all = listed.getColumns()[0] ?? [];
  if (all.length === 0) return [];
  const draws = Array.from({ length: count }, () => Number(all[rng.int(all.length)]));
  const found = await fetchTransitions(reader, draws, agent);
  return draws.map((seq) => found.get(seq)).filter((transition) => transition !== undefined);
}

async function fetchTransitions(
  reader: DuckDBConnection,
  draws: readonly number[],
  agent: AgentId | undefined,
): Promise<Map<number, Transition>> {
  const found = await reader.runAndReadAll(
    `SELECT r.seq, ${RECORD_COLUMNS}, CASE r."end" WHEN 0 THEN n.obs ELSE r.final_obs END
     FROM ${SOURCE} WHERE r.seq IN (SELECT unnest($1)) AND ${ELIGIBLE} ${agent === undefined ? "" : "AND e.agent = $2"}`,
    agent === undefined ? [listValue(draws.map(BigInt))] : [listValue(draws.map(BigInt)), agent],
    agent === undefined ? [LIST(BIGINT)] : [LIST(BIGINT)],
  );
  const rows = found.getRows();
  const bySeq = new Map<number, Transition>();
  recordsIn(rows, 1).forEach((record, i) => {
    const row = rows[i];
    if (row === undefined || record.reward === null) return;
    bySeq.set(Number(row[0]), {
      record: { ...record, reward: record.reward },
      nextObs: vectorIn(row[NEXT_COLUMN] ?? null) ?? null,
    });
  });
  return bySeq;
}
