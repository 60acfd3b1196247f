/**
 * The embedded trajectory store: one DuckDB file, owned by one process.
 * Owns: what an append and a completion mean in SQL; the order of writes; the reads of the port.
 * Not here: opening and durability (duckdb-file.ts), rows and chunks (duckdb-rows.ts), sampling (duckdb-sample.ts),
 * other processes (remote-server.ts).
 */

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { INTEGER, LIST, listValue } from "@duckdb/node-api";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError } from "../../base/index.ts";
import type {
  AppendReceipt,
  CompleteReceipt,
  Completion,
  EpisodeQuery,
  EpisodeSummary,
  SampleQuery,
  StoreCounts,
  TrajectoryRecord,
  TrajectoryStore,
  Transition,
} from "../../learn/trajectory/index.ts";
import {
  checkedCount,
  closedStore,
  conflictingAgent,
  conflictingRecord,
  EPISODE_ENDS,
  isRepeat,
  problemInCompletions,
  problemInRecords,
  StepSet,
  throwIfProblem,
} from "../../learn/trajectory/index.ts";
import { planCompletions, writeCompletions } from "./duckdb-complete.ts";
import type { KnownEpisode } from "./duckdb-episodes.ts";
import { EpisodeIndex } from "./duckdb-episodes.ts";
import { storeFailure } from "./duckdb-errors.ts";
import type { OpenFile } from "./duckdb-file.ts";
import { openFile } from "./duckdb-file.ts";
import type { NumberedRecord } from "./duckdb-rows.ts";
import { appendRows, RECORD_COLUMNS, recordsIn } from "./duckdb-rows.ts";
import { sampleTransitions } from "./duckdb-sample.ts";

export interface DuckdbStoreOptions {
  readonly path: string;
  /** Threads DuckDB may use for one query; learning needs the other cores more than the store does. */
  readonly threads?: number;
  /** The log is moved into the file when it reaches this size: larger is faster, and slower to open after a crash. */
  readonly checkpointMiB?: number;
}

/** Records per batch of a scan, as far as whole episodes allow. */
const SCAN_BATCH = 16_384;

export async function openDuckdbStore({
  path,
  threads = 1,
  checkpointMiB = 64,
}: DuckdbStoreOptions): Promise<TrajectoryStore> {
  const file = await openFile(path, { threads, checkpointMiB });
  try {
    const last = await file.reader.runAndReadAll(
      "SELECT (SELECT coalesce(max(key), -1) FROM episodes), (SELECT coalesce(max(seq), -1) FROM records)",
    );
    const [key, seq] = last.getRowsJS()[0] ?? [];
    return new DuckdbStore(file, { nextKey: Number(key) + 1, nextSeq: Number(seq) + 1 });
  } catch (thrown) {
    file.close();
    throw storeFailure(thrown, { path, doing: "open" });
  }
}

/** What one batch does to one episode. */
interface Plan {
  readonly key: number;
  readonly agent: AgentId;
  readonly known: KnownEpisode | undefined;
  readonly adding: StepSet;
}

class DuckdbStore implements TrajectoryStore {
  readonly #file: OpenFile;
  readonly #index: EpisodeIndex;
  readonly #reads = new Set<Promise<unknown>>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #nextKey: number;
  #nextSeq: number;
  #isClosed = false;

  constructor(file: OpenFile, { nextKey, nextSeq }: { nextKey: number; nextSeq: number }) {
    this.#file = file;
    this.#index = new EpisodeIndex(file.writer);
    this.#nextKey = nextKey;
    this.#nextSeq = nextSeq;
  }

  append(records: readonly TrajectoryRecord[]): Promise<AppendReceipt> {
    return this.#write("append to", async (writer) => {
      throwIfProblem(problemInRecords(records));
      const { plans, fresh, repeats } = await this.#planAppend(records);
      await this.#checkRepeats(repeats, fresh);
      if (fresh.length > 0) {
        await inTransaction(writer, async () => {
          await this.#appendEpisodes(writer, plans);
          await appendRows(writer, fresh, this.#nextSeq);
        });
        this.#remember(plans, fresh);
      }
      return { added: fresh.length, repeated: records.length - fresh.length };
    });
  }

  complete(completions: readonly Completion[]): Promise<CompleteReceipt> {
    return this.#write("complete records of", async (writer) => {
      throwIfProblem(problemInCompletions(completions));
      const known = await this.#index.lookUp(new Set(completions.map((c) => c.episode)));
      const changes = await planCompletions(writer, { completions, known });
      if (changes.length > 0) await inTransaction(writer, () => writeCompletions(writer, changes));
      return { completed: changes.length, repeated: completions.length - changes.length };
    });
  }

  recentRewards(agent: AgentId, count: number): Promise<number[]> {
    return this.#read(async (reader) => {
      const found = await reader.runAndReadAll(
        `SELECT r.reward FROM records r JOIN episodes e ON e.key = r.episode
         WHERE e.agent = $1 AND r.reward IS NOT NULL ORDER BY r.at_ms DESC, e.id DESC, r.step DESC LIMIT ${checkedCount(count)}`,
        [agent],
      );
      return found
        .getRows()
        .map((row) => Number(row[0]))
        .reverse();
    });
  }

  recentEpisodes(agent: AgentId, count: number): Promise<EpisodeId[]> {
    return this.#read(async (reader) => {
      const found = await reader.runAndReadAll(
        `SELECT e.id FROM (SELECT episode, max(at_ms) AS ended FROM records
           WHERE episode IN (SELECT key FROM episodes WHERE agent = $1) GROUP BY episode) s
         JOIN episodes e ON e.key = s.episode ORDER BY s.ended DESC, e.id LIMIT ${checkedCount(count)}`,
        [agent],
      );
      return found.getRows().map((row) => String(row[0]) as EpisodeId);
    });
  }

  topEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, "sum DESC");
  }

  bottomEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, "sum ASC");
  }

  oldestEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, "ended ASC");
  }

  sample(query: SampleQuery): Promise<Transition[]> {
    return this.#read((reader) =>
      sampleTransitions(reader, { count: checkedCount(query.count), rng: query.rng, agent: query.agent }),
    );
  }

  episode(id: EpisodeId): Promise<TrajectoryRecord[]> {
    return this.#read(async (reader) => {
      const sql = `SELECT ${RECORD_COLUMNS} FROM episodes e JOIN records r ON r.episode = e.key WHERE e.id = $1 ORDER BY r.step`;
      return recordsIn((await reader.runAndReadAll(sql, [id])).getRows());
    });
  }

  counts(): Promise<StoreCounts> {
    return this.#read(async (reader) => {
      const found = await reader.runAndReadAll(
        "SELECT (SELECT count(*) FROM episodes), count(*), count(*) - count(reward) FROM records",
      );
      const [episodes, records, pending] = found.getRowsJS()[0] ?? [];
      return { episodes: Number(episodes), records: Number(records), pending: Number(pending) };
    });
  }

  async *scan(): AsyncIterable<readonly TrajectoryRecord[]> {
    const sizes = await this.#read(async (reader) => {
      const found = await reader.runAndReadAll(
        "SELECT episode, count(*) FROM records GROUP BY episode ORDER BY episode",
      );
      return found.getRowsJS().map(([key, count]) => ({ key: Number(key), count: Number(count) }));
    });
    for (let from = 0; from < sizes.length; ) {
      let to = from;
      for (let records = 0; to < sizes.length && (to === from || records < SCAN_BATCH); to++)
        records += sizes[to]?.count ?? 0;
      const range = [sizes[from]?.key ?? 0, sizes[to - 1]?.key ?? 0];
      from = to;
      const batch = await this.#read(async (reader) => {
        const sql = `SELECT ${RECORD_COLUMNS} FROM records r JOIN episodes e ON e.key = r.episode
          WHERE r.episode BETWEEN $1 AND $2 ORDER BY r.episode, r.step`;
        return recordsIn((await reader.runAndReadAll(sql, range, [INTEGER, INTEGER])).getRows());
      });
      if (batch.length > 0) yield batch;
    }
  }

  forget(episodes: readonly EpisodeId[]): Promise<number> {
    return this.#write("delete from", async (writer) => {
      const known = await this.#index.lookUp(new Set(episodes));
      if (known.size === 0) return 0;
      const keys = listValue([...known.values()].map((episode) => episode.key));
      const gone = await inTransaction(writer, async () => {
        const deleted = await writer.run(
          "DELETE FROM records WHERE episode IN (SELECT unnest($1))",
          [keys],
          [LIST(INTEGER)],
        );
        await writer.run("DELETE FROM episodes WHERE key IN (SELECT unnest($1))", [keys], [LIST(INTEGER)]);
        return deleted.rowsChanged;
      });
      this.#index.forget(known.keys());
      return gone;
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#lastWrite.catch(() => undefined);
    await Promise.allSettled(this.#reads);
    // Off the main thread now rather than within the synchronous close. If it fails, on a full disk say, the log
    // still has everything and the next open replays it.
    await this.#file.writer.run("CHECKPOINT").catch(() => undefined);
    this.#file.close();
  }

  /** Sorts a batch into new rows and repeats; nothing is changed yet. */
  async #planAppend(records: readonly TrajectoryRecord[]) {
    const stored = await this.#index.lookUp(new Set(records.map((record) => record.episode)));
    const plans = new Map<EpisodeId, Plan>();
    const fresh: NumberedRecord[] = [];
    const repeats: NumberedRecord[] = [];
    let nextKey = this.#nextKey;
    let plan: Plan | undefined;
    let episode: EpisodeId | undefined;
    for (const record of records) {
      if (record.episode !== episode || plan === undefined) {
        episode = record.episode;
        plan = plans.get(episode);
        if (plan === undefined) {
          const known = stored.get(episode);
          plan = { key: known?.key ?? nextKey++, agent: known?.agent ?? record.agent, known, adding: new StepSet() };
          plans.set(episode, plan);
        }
      }
      const { key, agent, known, adding } = plan;
      if (agent !== record.agent)
        throw new CodedError(conflictingAgent(episode, { stored: agent, incoming: record.agent }));
      if (known?.steps.has(record.step) || adding.has(record.step)) {
        repeats.push({ key, record });
        continue;
      }
      adding.add(record.step);
      fresh.push({ key, record });
    }
    return { plans, fresh, repeats };
  }

  /** Throws unless every repeat says what its first copy says, in the file or earlier in this batch. */
  async #checkRepeats(repeats: readonly NumberedRecord[], fresh: readonly NumberedRecord[]): Promise<void> {
    if (repeats.length === 0) return;
    const first = new Map<string, TrajectoryRecord>();
    const sql = `SELECT ${RECORD_COLUMNS} FROM (SELECT unnest($1) AS episode, unnest($2) AS step) w
      JOIN records r ON r.episode = w.episode AND r.step = w.step JOIN episodes e ON e.key = r.episode`;
    const keys = listValue(repeats.map(({ key }) => key));
    const steps = listValue(repeats.map(({ record }) => record.step));
    const found = await this.#file.writer.runAndReadAll(sql, [keys, steps], [LIST(INTEGER), LIST(INTEGER)]);
    for (const { record } of fresh) first.set(`${record.episode} ${record.step}`, record);
    for (const record of recordsIn(found.getRows())) first.set(`${record.episode} ${record.step}`, record);
    for (const { record } of repeats) {
      const stored = first.get(`${record.episode} ${record.step}`);
      if (stored === undefined || !isRepeat(record, stored)) throw new CodedError(conflictingRecord(record));
    }
  }

  async #appendEpisodes(writer: DuckDBConnection, plans: ReadonlyMap<EpisodeId, Plan>): Promise<void> {
    const appender = await writer.createAppender("episodes");
    try {
      for (const [id, { key, agent, known }] of plans) {
        if (known !== undefined) continue;
        appender.appendInteger(key);
        appender.appendVarchar(id);
        appender.appendVarchar(agent);
        appender.endRow();
      }
      appender.flushSync();
    } finally {
      appender.closeSync();
    }
  }

  /** Only after the commit: a batch that failed must leave no trace here either. */
  #remember(plans: ReadonlyMap<EpisodeId, Plan>, fresh: readonly NumberedRecord[]): void {
    this.#nextSeq += fresh.length;
    for (const { record } of fresh) plans.get(record.episode)?.known?.steps.add(record.step);
    for (const [id, { key, agent, known, adding }] of plans) {
      if (known !== undefined) continue;
      this.#nextKey = Math.max(this.#nextKey, key + 1);
      this.#index.remember(id, { key, agent, steps: adding });
    }
  }

  #finished({ count, agent }: EpisodeQuery, order: string): Promise<EpisodeSummary[]> {
    return this.#read(async (reader) => {
      // fsum is exact enough that the order in which threads add does not show.
      const sql = `SELECT e.id, e.agent, s.steps, s.sum, s.last, s.started, s.ended FROM (
          SELECT episode, count(*) AS steps, fsum(reward) AS sum, arg_max("end", step) AS last,
                 min(at_ms) AS started, max(at_ms) AS ended
          FROM records GROUP BY episode HAVING count(*) = count(reward) AND arg_max("end", step) <> 0) s
        JOIN episodes e ON e.key = s.episode ${agent === undefined ? "" : "WHERE e.agent = $1"}
        ORDER BY ${order}, e.id LIMIT ${checkedCount(count)}`;
      const found = await reader.runAndReadAll(sql, agent === undefined ? [] : [agent]);
      return found.getRows().map(summaryIn);
    });
  }

  /** Writes are made one after the other, in the order of the calls. */
  #write<T>(doing: string, job: (writer: DuckDBConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedStore());
    const result = this.#lastWrite.then(() => job(this.#file.writer));
    this.#lastWrite = result.catch(() => undefined);
    return result.catch((thrown: unknown) => {
      throw storeFailure(thrown, { path: this.#file.path, doing });
    });
  }

  async #read<T>(job: (reader: DuckDBConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedStore();
    const result = job(this.#file.reader);
    this.#reads.add(result);
    try {
      return await result;
    } catch (thrown) {
      throw storeFailure(thrown, { path: this.#file.path, doing: "read" });
    } finally {
      this.#reads.delete(result);
    }
  }
}

async function inTransaction<T>(writer: DuckDBConnection, job: () => Promise<T>): Promise<T> {
  await writer.run("BEGIN");
  try {
    const result = await job();
    await writer.run("COMMIT");
    return result;
  } catch (thrown) {
    // A failed COMMIT has already rolled back, and then this finds nothing to do.
    await writer.run("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

function summaryIn([id, agent, steps, sum, last, started, ended]: readonly DuckDBValue[]): EpisodeSummary {
  return {
    episode: String(id) as EpisodeId,
    agent: String(agent) as AgentId,
    steps: Number(steps),
    return: Number(sum),
    end: EPISODE_ENDS[Number(last)] ?? "no",
    startedAt: Number(started) as Ms,
    endedAt: Number(ended) as Ms,
  };
}
