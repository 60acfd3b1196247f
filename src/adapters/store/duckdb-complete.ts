/** Late rewards in DuckDB: which rows a batch of completions changes, and the one UPDATE that does it. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { BLOB, DOUBLE, INTEGER, LIST, listValue, UTINYINT } from "@duckdb/node-api";
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
import { blobOf, numberIn, vectorIn } from "./duckdb-rows.ts";

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
  const keyOf = (completion: Completion): number => {
    const episode = known.get(completion.episode);
    if (!episode?.steps.has(completion.step)) throw new CodedError(unknownRecord(completion));
    return episode.key;
  };
  const keys = completions.map(keyOf);
  const found = await connection.runAndReadAll(
    `SELECT r.episode, r.step, r.reward, r."end", r.final_obs FROM (SELECT unnest($1) AS episode, unnest($2) AS step) w
     JOIN records r ON r.episode = w.episode AND r.step = w.step`,
    [listValue(keys), listValue(completions.map(({ step }) => step))],
    [LIST(INTEGER), LIST(INTEGER)],
  );
  const rows = new Map<string, Late>();
  for (const [episode, step, reward, end, blob] of found.getRows()) {
    const finalObs = vectorIn(blob ?? null);
    rows.set(`${Number(episode)} ${Number(step)}`, {
      reward: numberIn(reward ?? null),
      end: EPISODE_ENDS[Number(end)] ?? "no",
      ...(finalObs === undefined ? {} : { finalObs }),
    });
  }
  const changes: Change[] = [];
  completions.forEach((completion, i) => {
    const key = keys[i] ?? -1;
    const row = rows.get(`${key} ${completion.step}`);
    if (row === undefined) throw new CodedError(unknownRecord(completion));
    if (row.reward !== null) {
      if (!isRepeatedCompletion(completion, row)) throw new CodedError(conflictingCompletion(completion));
      return;
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
  });
  return changes;
}

export async function writeCompletions(connection: DuckDBConnection, changes: readonly Change[]): Promise<void> {
  const keys = changes.map(({ key }) => key);
  await connection.run(
    `UPDATE records SET reward = w.reward, "end" = w.last FROM (
       SELECT unnest($1) AS episode, unnest($2) AS step, unnest($3) AS reward, unnest($4) AS last) w
     WHERE records.episode = w.episode AND records.step = w.step
       AND records.episode BETWEEN ${smallest(keys)} AND ${largest(keys)}`,
    [
      listValue(keys),
      listValue(changes.map(({ completion }) => completion.step)),
      listValue(changes.map(({ completion }) => completion.reward)),
      listValue(changes.map(({ end }) => EPISODE_ENDS.indexOf(end))),
    ],
    [LIST(INTEGER), LIST(INTEGER), LIST(DOUBLE), LIST(UTINYINT)],
  );
  // At most one per episode carries a final observation, so these are few.
  const last = changes.filter(({ completion }) => completion.finalObs !== undefined);
  if (last.length === 0) return;
  await connection.run(
    `UPDATE records SET final_obs = w.final_obs FROM (
       SELECT unnest($1) AS episode, unnest($2) AS step, unnest($3) AS final_obs) w
     WHERE records.episode = w.episode AND records.step = w.step`,
    [
      listValue(last.map(({ key }) => key)),
      listValue(last.map(({ completion }) => completion.step)),
      listValue(last.map(({ completion }) => blobOf(completion.finalObs))),
    ],
    [LIST(INTEGER), LIST(INTEGER), LIST(BLOB)],
  );
}

// The bounds let DuckDB skip row groups; spreading a large batch into Math.min would overflow the stack.
const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
