/**
 * The numbers of episodes and which of their steps are stored, remembered for the episodes in use.
 * A file numbers its episodes in order of arrival, so rows of an episode lie together and a question about one episode
 * reads a few row groups, not the table. Only the owner writes, so what is remembered stays true.
 */

import type { DuckDBConnection } from "@duckdb/node-api";
import { INTEGER, LIST, listValue, VARCHAR } from "@duckdb/node-api";
import type { AgentId, EpisodeId } from "../../base/index.ts";
import { StepSet } from "../../learn/trajectory/index.ts";

export interface KnownEpisode {
  readonly key: number;
  readonly agent: AgentId;
  readonly steps: StepSet;
}

/** Some ten megabytes at most, and far more than the episodes that run at one time. */
const REMEMBERED = 65_536;

export class EpisodeIndex {
  readonly #connection: DuckDBConnection;
  readonly #known = new Map<EpisodeId, KnownEpisode>();

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** The stored ones among these episodes. */
  async lookUp(ids: Iterable<EpisodeId>): Promise<Map<EpisodeId, KnownEpisode>> {
    const found = new Map<EpisodeId, KnownEpisode>();
    const asked: EpisodeId[] = [];
    for (const id of ids) {
      const known = this.#known.get(id);
      if (known === undefined) asked.push(id);
      else found.set(id, known);
    }
    if (asked.length > 0) {
      for (const [id, episode] of await this.#load(asked)) {
        found.set(id, episode);
        this.remember(id, episode);
      }
    }
    return found;
  }

  remember(id: EpisodeId, episode: KnownEpisode): void {
    this.#known.set(id, episode);
    if (this.#known.size <= REMEMBERED) return;
    // A Map iterates in order of insertion: the first is the one remembered longest.
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }

  forget(ids: Iterable<EpisodeId>): void {
    for (const id of ids) this.#known.delete(id);
  }

  async #load(ids: readonly EpisodeId[]): Promise<Map<EpisodeId, KnownEpisode>> {
    const episodes = await this.#connection.runAndReadAll(
      "SELECT key, id, agent FROM episodes WHERE id IN (SELECT unnest($1))",
      [listValue([...ids])],
      [LIST(VARCHAR)],
    );
    const byKey = new Map<number, StepSet>();
    const loaded = new Map<EpisodeId, KnownEpisode>();
    for (const [key, id, agent] of episodes.getRowsJS()) {
      const steps = new StepSet();
      byKey.set(Number(key), steps);
      loaded.set(String(id) as EpisodeId, { key: Number(key), agent: String(agent) as AgentId, steps });
    }
    if (byKey.size === 0) return loaded;
    // Runs of successive steps, so that an episode of a million steps comes back as one row.
    const runs = await this.#connection.runAndReadAll(
      `SELECT episode, min(step), max(step) FROM (
         SELECT episode, step, step - row_number() OVER (PARTITION BY episode ORDER BY step) AS run
         FROM records WHERE episode IN (SELECT unnest($1)))
       GROUP BY episode, run`,
      [listValue([...byKey.keys()])],
      [LIST(INTEGER)],
    );
    for (const [key, first, last] of runs.getRowsJS()) byKey.get(Number(key))?.addRun(Number(first), Number(last));
    return loaded;
  }
}
