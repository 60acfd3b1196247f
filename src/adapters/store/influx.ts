/**
 * The trajectory store on InfluxDB, for fleets that have one.
 * Owns: what the port's calls mean over points and series. Not here: the two query languages (influx-v1.ts, influx-v2.ts).
 *
 * Differences that come with the database and are meant: a batch is written in requests of WRITE_BATCH points, each of
 * them all or nothing as far as InfluxDB is; and an episode must be written by one process, because there is no lock and
 * what is stored is looked up once per episode and then remembered.
 */

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
  bestFirst,
  byId,
  checkedCount,
  closedStore,
  completed,
  conflictingAgent,
  conflictingCompletion,
  conflictingRecord,
  isRepeat,
  isRepeatedCompletion,
  oldestFirst,
  ownCopy,
  problemInCompletions,
  problemInRecords,
  RECORD_SCHEMA,
  StepSet,
  schemaMismatch,
  throwIfProblem,
  unknownRecord,
  worstFirst,
} from "../../learn/trajectory/index.ts";
import type { Point, SeriesSummary } from "./influx-points.ts";
import { endOf, lateLineOf, lineOf, META, recordOf } from "./influx-points.ts";
import { sampleEpisodes } from "./influx-sample.ts";

export interface RewardPoint {
  readonly episode: string;
  readonly reward: number;
  readonly at: number;
  readonly tail: number;
}

/** What the store needs of a version of InfluxDB. */
export interface InfluxDialect {
  /** Makes the database where that is possible; leaves an existing one alone. */
  prepare(): Promise<void>;
  /** The schema version found there, undefined in an empty database. */
  schema(): Promise<number | undefined>;
  write(lines: readonly string[]): Promise<void>;
  summaries(filter?: { readonly agent?: AgentId; readonly episodes?: readonly EpisodeId[] }): Promise<SeriesSummary[]>;
  points(episodes: readonly EpisodeId[]): Promise<Point[]>;
  /** The time in milliseconds of the `count`-newest reward of the agent, or of its oldest when there are fewer. */
  newestRewardTime(agent: AgentId, count: number): Promise<number | undefined>;
  rewardsSince(agent: AgentId, ms: number): Promise<RewardPoint[]>;
  forget(episodes: readonly EpisodeId[]): Promise<void>;
}

/** InfluxData's own advice for the size of a write. */
const WRITE_BATCH = 5_000;
/** Episodes named in one query. */
const QUERY_BATCH = 100;
const REMEMBERED = 4_096;

/** What is remembered of an episode in use: which steps are stored, and those that wait for their reward. */
interface KnownEpisode {
  readonly agent: AgentId;
  readonly steps: StepSet;
  readonly pending: Map<number, TrajectoryRecord>;
}

/** Prepares the database and checks who wrote it. */
export async function openOnInflux(dialect: InfluxDialect, { now }: { now: Ms }): Promise<TrajectoryStore> {
  await dialect.prepare();
  const found = await dialect.schema();
  if (found !== undefined && found !== RECORD_SCHEMA)
    throw new CodedError(schemaMismatch("the InfluxDB database", found));
  // At the present time, because retention would drop a point from long ago.
  if (found === undefined)
    await dialect.write([`${META} trajectory_schema=${RECORD_SCHEMA}i ${BigInt(Math.floor(now)) * 1_000_000n}`]);
  return new InfluxStore(dialect);
}

class InfluxStore implements TrajectoryStore {
  readonly #dialect: InfluxDialect;
  /** Episodes in use, so that a step is usually written without asking first. */
  readonly #known = new Map<EpisodeId, KnownEpisode>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(dialect: InfluxDialect) {
    this.#dialect = dialect;
  }

  append(records: readonly TrajectoryRecord[]): Promise<AppendReceipt> {
    return this.#write(async () => {
      throwIfProblem(problemInRecords(records));
      await this.#lookUp(records.map((record) => record.episode));
      const fresh = new Map<string, TrajectoryRecord>();
      const repeats: TrajectoryRecord[] = [];
      const agents = new Map<EpisodeId, AgentId>();
      for (const record of records) {
        const known = this.#known.get(record.episode);
        const owner = known?.agent ?? agents.get(record.episode) ?? record.agent;
        if (owner !== record.agent) {
          throw new CodedError(conflictingAgent(record.episode, { stored: owner, incoming: record.agent }));
        }
        agents.set(record.episode, owner);
        if (known?.steps.has(record.step) || fresh.has(keyOf(record))) repeats.push(record);
        else fresh.set(keyOf(record), record);
      }
      const first = await this.#stored(repeats.filter((record) => !fresh.has(keyOf(record))));
      for (const record of repeats) {
        const earlier = fresh.get(keyOf(record)) ?? first.get(keyOf(record));
        if (earlier === undefined || !isRepeat(record, earlier)) throw new CodedError(conflictingRecord(record));
      }
      await this.#send([...fresh.values()].map(lineOf));
      for (const record of fresh.values()) this.#remember(record);
      return { added: fresh.size, repeated: repeats.length };
    });
  }

  complete(completions: readonly Completion[]): Promise<CompleteReceipt> {
    return this.#write(async () => {
      throwIfProblem(problemInCompletions(completions));
      await this.#lookUp(completions.map((completion) => completion.episode));
      const missing = completions.find((c) => !this.#known.get(c.episode)?.steps.has(c.step));
      if (missing !== undefined) throw new CodedError(unknownRecord(missing));
      const pendingOf = (c: Completion) => this.#known.get(c.episode)?.pending.get(c.step);
      const done = await this.#stored(completions.filter((completion) => pendingOf(completion) === undefined));
      const changed = new Map<string, TrajectoryRecord & { readonly reward: number }>();
      for (const completion of completions) {
        const key = keyOf(completion);
        const stored = changed.get(key) ?? pendingOf(completion) ?? done.get(key);
        if (stored === undefined) throw new CodedError(unknownRecord(completion));
        if (stored.reward === null) changed.set(key, { ...completed(stored, completion), reward: completion.reward });
        else if (!isRepeatedCompletion(completion, stored)) throw new CodedError(conflictingCompletion(completion));
      }
      await this.#send([...changed.values()].map(lateLineOf));
      for (const record of changed.values()) this.#remember(record);
      return { completed: changed.size, repeated: completions.length - changed.size };
    });
  }

  async recentRewards(agent: AgentId, count: number): Promise<number[]> {
    this.#checkOpen();
    if (checkedCount(count) === 0) return [];
    // Points are ordered by whole milliseconds; all of the oldest one are fetched and then ordered exactly.
    const oldest = await this.#dialect.newestRewardTime(agent, count);
    if (oldest === undefined) return [];
    const rewards = await this.#dialect.rewardsSince(agent, oldest);
    rewards.sort((a, b) => a.at - b.at || byId(a, b) || a.tail - b.tail);
    return rewards.slice(-count).map((point) => point.reward);
  }

  async recentEpisodes(agent: AgentId, count: number): Promise<EpisodeId[]> {
    this.#checkOpen();
    checkedCount(count);
    const series = await this.#dialect.summaries({ agent });
    return series
      .sort((a, b) => b.endedAt - a.endedAt || byId(a, b))
      .slice(0, count)
      .map(({ episode }) => episode);
  }

  topEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, bestFirst);
  }

  bottomEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, worstFirst);
  }

  oldestEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, oldestFirst);
  }

  async sample({ count, rng, agent }: SampleQuery): Promise<Transition[]> {
    this.#checkOpen();
    const series = await this.#dialect.summaries(agent === undefined ? {} : { agent });
    const read = (episodes: readonly EpisodeId[]) => this.#read(episodes);
    return sampleEpisodes({ count: checkedCount(count), rng, series: series.sort(byId), read });
  }

  async episode(id: EpisodeId): Promise<TrajectoryRecord[]> {
    this.#checkOpen();
    return (await this.#read([id])).get(id) ?? [];
  }

  async counts(): Promise<StoreCounts> {
    this.#checkOpen();
    const series = await this.#dialect.summaries();
    const records = series.reduce((sum, s) => sum + s.records, 0);
    return { episodes: series.length, records, pending: records - series.reduce((sum, s) => sum + s.rewards, 0) };
  }

  async *scan(): AsyncIterable<readonly TrajectoryRecord[]> {
    this.#checkOpen();
    const ids = (await this.#dialect.summaries()).sort(byId).map((s) => s.episode);
    for (let from = 0; from < ids.length; from += QUERY_BATCH) {
      for (const records of (await this.#read(ids.slice(from, from + QUERY_BATCH))).values()) yield records;
    }
  }

  forget(episodes: readonly EpisodeId[]): Promise<number> {
    return this.#write(async () => {
      let gone = 0;
      for (let from = 0; from < episodes.length; from += QUERY_BATCH) {
        const part = episodes.slice(from, from + QUERY_BATCH);
        const found = await this.#dialect.summaries({ episodes: part });
        if (found.length > 0) await this.#dialect.forget(found.map((s) => s.episode));
        gone += found.reduce((sum, s) => sum + s.records, 0);
        for (const id of part) this.#known.delete(id);
      }
      return gone;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lastWrite;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedStore();
  }

  #write<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedStore());
    const result = this.#lastWrite.then(job);
    this.#lastWrite = result.catch(() => undefined);
    return result;
  }

  async #send(lines: readonly string[]): Promise<void> {
    for (let from = 0; from < lines.length; from += WRITE_BATCH) {
      await this.#dialect.write(lines.slice(from, from + WRITE_BATCH));
    }
  }

  /** Asks for the episodes that are not remembered; one that is not stored is remembered from its first record on. */
  async #lookUp(ids: readonly EpisodeId[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#known.has(id));
    for (const records of (await this.#read(unknown)).values()) for (const record of records) this.#remember(record);
  }

  /** These steps as they are stored. */
  async #stored(which: readonly { readonly episode: EpisodeId; readonly step: number }[]) {
    const found = new Map<string, TrajectoryRecord>();
    for (const records of (await this.#read([...new Set(which.map((one) => one.episode))])).values()) {
      for (const record of records) found.set(keyOf(record), record);
    }
    return found;
  }

  #remember(record: TrajectoryRecord): void {
    const { episode: id, agent, step } = record;
    const episode = this.#known.get(id) ?? {
      agent,
      steps: new StepSet(),
      pending: new Map<number, TrajectoryRecord>(),
    };
    episode.steps.add(step);
    if (record.reward === null) episode.pending.set(step, ownCopy(record));
    else episode.pending.delete(step);
    this.#known.set(id, episode);
    if (this.#known.size <= REMEMBERED) return;
    // A Map iterates in order of insertion: the first is the one remembered longest.
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }

  async #read(ids: readonly EpisodeId[]): Promise<Map<EpisodeId, TrajectoryRecord[]>> {
    const episodes = new Map<EpisodeId, TrajectoryRecord[]>();
    for (let from = 0; from < ids.length; from += QUERY_BATCH) {
      for (const point of await this.#dialect.points(ids.slice(from, from + QUERY_BATCH))) {
        const record = recordOf(point);
        const records = episodes.get(record.episode) ?? [];
        records.push(record);
        episodes.set(record.episode, records);
      }
    }
    for (const records of episodes.values()) records.sort((a, b) => a.step - b.step);
    return episodes;
  }

  async #finished(
    { count, agent }: EpisodeQuery,
    order: (a: EpisodeSummary, b: EpisodeSummary) => number,
  ): Promise<EpisodeSummary[]> {
    this.#checkOpen();
    checkedCount(count);
    const series = await this.#dialect.summaries(agent === undefined ? {} : { agent });
    return series
      .filter((s) => s.rewards === s.records && endOf(s.tail) !== "no")
      .map(({ episode, agent: owner, records, return: sum, tail, startedAt, endedAt }): EpisodeSummary => {
        return { episode, agent: owner, steps: records, return: sum, end: endOf(tail), startedAt, endedAt };
      })
      .sort(order)
      .slice(0, count);
  }
}

function keyOf({ episode, step }: { readonly episode: EpisodeId; readonly step: number }): string {
  return `${episode} ${step}`;
}
