/**
 * Late rewards in DuckDB: which rows a batch of completions changes, and the one UPDATE that does it.
 * The batch is laid into a temporary table first (which costs no log): a join against it finds and changes thousands of
 * rows at once.
 */

import type { DuckDBConnection } from "@duckdb/node-api";
import { BLOB, DOUBLE, DuckDBDataChunk, INTEGER, UTINYINT } from "@duckdb/node-api";
import type { EpisodeId } from "../../base/index.ts";
import { CodedError } from "../../base/index.ts";
import type { Completion, EpisodeEnd } from "../../learn/trajectory/index.ts";
import {
  conflictingCompletion,
  EPISODE_ENDS,
  isRepeatedCompletion,
  unknownRecord,
} from "../../learn/trajectory/index.ts";
import type { KnownEpisode } from "./duckdb-episodes.ts";
import { blobOf, CHUNK, fillColumn, numberIn, vectorIn } from "./duckdb-rows.ts";

interface Change {
  readonly key: number;
  readonly completion: Completion;
  /** The end after the completion. */
  readonly end: EpisodeEnd;
}

interface Late {
  readonly reward: number | null;
  readonly end: EpisodeEnd;
  readonly finalObs?: Float32Array;
}

export async function planCompletions(
  connection: DuckDBConnection,
  { completions, known }: { completions: readonly Completion[]; known: ReadonlyMap<EpisodeId, KnownEpisode> },
): Promise<Change[]> {
  const wanted = completions.map((completion): Change => {
    const episode = known.get(completion.episode);
    if (!episode?.steps.has(completion.step)) throw new CodedError(unknownRecord(completion));
    return { key: episode.key, completion, end: completion.end ?? "no" };
  });
  if (wanted.length === 0) return [];
  await stage(connection, wanted);
  const found = await connection.runAndReadAll(
    `SELECT r.episode, r.step, r.reward, r."end", r.final_obs FROM late w
     JOIN records r ON r.episode = w.episode AND r.step = w.step WHERE ${boundsOf(wanted)}`,
  );
  const rows = new Map<string, Late>();
  for (const [episode, step, reward, end, blob] of found.getRows()) {
    const finalObs = vectorIn(blob ?? null);
    rows.set(`${episode} ${step}`, {
      reward: numberIn(reward ?? null),
      end: EPISODE_ENDS[Number(end)] ?? "no",
      ...(finalObs === undefined ? {} : { finalObs }),
    });
  }
  const changes: Change[] = [];
  for (const { key, completion } of wanted) {
    const row = rows.get(`${key} ${completion.step}`);
    if (row === undefined) throw new CodedError(unknownRecord(completion));
    if (row.reward !== null) {
      if (!isRepeatedCompletion(completion, row)) throw new CodedError(conflictingCompletion(completion));
      continue;
    }
    const end = completion.end ?? row.end;
    changes.push({ key, completion, end });
    // A second completion of the same step in this batch is judged against the first.
    const finalObs = completion.finalObs ?? row.finalObs;
    rows.set(`${key} ${completion.step}`, {
      reward: completion.reward,
      end,
      ...(finalObs === undefined ? {} : { finalObs }),
    });
  }
  return changes;
}

/** To be called within a transaction. */
export async function writeCompletions(connection: DuckDBConnection, changes: readonly Change[]): Promise<void> {
  await stage(connection, changes);
  await connection.run(
    `UPDATE records r SET reward = w.reward, "end" = w."end" FROM late w
     WHERE r.episode = w.episode AND r.step = w.step AND ${boundsOf(changes)}`,
  );
  // At most one per episode carries a final observation, so these are few and most batches have none.
  if (!changes.some(({ completion }) => completion.finalObs !== undefined)) return;
  await connection.run(
    `UPDATE records r SET final_obs = w.final_obs FROM late w
     WHERE r.episode = w.episode AND r.step = w.step AND w.final_obs IS NOT NULL AND ${boundsOf(changes)}`,
  );
}

async function stage(connection: DuckDBConnection, changes: readonly Change[]): Promise<void> {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE late (episode INTEGER, step INTEGER, reward DOUBLE, "end" UTINYINT, final_obs BLOB)`,
  );
  const appender = await connection.createAppender("late", null, "temp");
  try {
    for (let from = 0; from < changes.length; from += CHUNK) {
      const part = changes.slice(from, from + CHUNK);
      const chunk = DuckDBDataChunk.create([INTEGER, INTEGER, DOUBLE, UTINYINT, BLOB], part.length);
      fillColumn(
        chunk,
        0,
        part.map(({ key }) => key),
      );
      fillColumn(
        chunk,
        1,
        part.map(({ completion }) => completion.step),
      );
      fillColumn(
        chunk,
        2,
        part.map(({ completion }) => completion.reward),
      );
      fillColumn(
        chunk,
        3,
        part.map(({ end }) => EPISODE_ENDS.indexOf(end)),
      );
      fillColumn(
        chunk,
        4,
        part.map(({ completion }) => blobOf(completion.finalObs)),
      );
      appender.appendDataChunk(chunk);
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
}

/** Lets DuckDB skip row groups. Not by spreading into Math.min, which a large batch would overflow. */
function boundsOf(changes: readonly Change[]): string {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { key } of changes) {
    low = Math.min(low, key);
    high = Math.max(high, key);
  }
  return `r.episode BETWEEN ${low} AND ${high}`;
}
