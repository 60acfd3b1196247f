/**
 * The trajectory store as its users see it.
 * Owns: the port, what each call promises, and the two questions every implementation must answer alike:
 * which records make a transition, and which episodes are finished.
 * Not here: implementations (adapters/store), batching (batching-writer.ts), retention (retention.ts).
 *
 * Failures arrive as rejections with a CodedError: a returned failure that nobody looked at would be a lost record.
 */

import type { AgentId, EpisodeId, Ms, Rng } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { Completion, EpisodeEnd, TrajectoryRecord } from "./record.ts";

export interface AppendReceipt {
  readonly added: number;
  /** Records that were already there with the same content. */
  readonly repeated: number;
}

export interface CompleteReceipt {
  readonly completed: number;
  readonly repeated: number;
}

/** An ended episode that waits for no reward. */
export interface EpisodeSummary {
  readonly episode: EpisodeId;
  readonly agent: AgentId;
  readonly steps: number;
  /** Undiscounted sum of rewards. */
  readonly return: number;
  readonly end: EpisodeEnd;
  readonly startedAt: Ms;
  readonly endedAt: Ms;
}

export interface Transition {
  readonly record: TrajectoryRecord & { readonly reward: number };
  /** The observation that followed; null only after a terminated step, where nothing follows. */
  readonly nextObs: Float32Array | null;
}

export interface StoreCounts {
  readonly episodes: number;
  readonly records: number;
  /** Records without a reward. */
  readonly pending: number;
}

export interface EpisodeQuery {
  readonly count: number;
  readonly agent?: AgentId;
}

export interface SampleQuery {
  readonly count: number;
  readonly rng: Rng;
  readonly agent?: AgentId;
}

export interface TrajectoryStore {
  /**
   * Resolves when every record is durable: it survives a kill of this process. All or nothing; a record that is
   * already there with the same content is not stored twice, so a batch can be retried safely. The caller must not
   * change the vectors before the promise settles.
   */
  append(records: readonly TrajectoryRecord[]): Promise<AppendReceipt>;
  /**
   * Gives late rewards to stored records; durable, all or nothing and safe to retry, as `append`. A step that is not
   * stored is reported before any conflict.
   */
  complete(completions: readonly Completion[]): Promise<CompleteReceipt>;
  /** The last `count` rewards of an agent by decision time, oldest first; pending records are passed over. */
  recentRewards(agent: AgentId, count: number): Promise<number[]>;
  /** The agent's episodes, finished or not, whose last decisions are the newest, newest first; equal times by episode id. */
  recentEpisodes(agent: AgentId, count: number): Promise<EpisodeId[]>;
  /** Finished episodes with the highest return, best first; equal returns by episode id. */
  topEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]>;
  /** Finished episodes with the lowest return, worst first; equal returns by episode id. */
  bottomEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]>;
  /** Finished episodes that ended longest ago, oldest first; equal times by episode id. */
  oldestEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]>;
  /**
   * `count` transitions drawn uniformly and with replacement; none at all when no record makes a transition yet.
   * The same content in the same store and the same random stream give the same sample.
   */
  sample(query: SampleQuery): Promise<Transition[]>;
  /** All records of an episode in step order; empty for an unknown one. */
  episode(id: EpisodeId): Promise<TrajectoryRecord[]>;
  counts(): Promise<StoreCounts>;
  /** Everything, in batches, episode by episode and in step order. Each episode is read as of one moment. */
  scan(): AsyncIterable<readonly TrajectoryRecord[]>;
  /** Deletes whole episodes; unknown ones are passed over. Returns how many records went. */
  forget(episodes: readonly EpisodeId[]): Promise<number>;
  /** Lets go of files and sockets; later calls fail with `store.closed`. */
  close(): Promise<void>;
}

/** The transition a record makes with its successor, or undefined while it cannot be learned from. */
export function transitionOf(record: TrajectoryRecord, next: TrajectoryRecord | undefined): Transition | undefined {
  if (record.reward === null) return undefined;
  const complete = { ...record, reward: record.reward };
  if (record.end === "no") return next === undefined ? undefined : { record: complete, nextObs: next.obs };
  if (record.finalObs !== undefined) return { record: complete, nextObs: record.finalObs };
  return record.end === "terminated" ? { record: complete, nextObs: null } : undefined;
}

/** The summary of an episode given in step order, or undefined while it is not finished. */
export function summaryOf(records: readonly TrajectoryRecord[]): EpisodeSummary | undefined {
  const first = records[0];
  const last = records.at(-1);
  if (first === undefined || last === undefined || last.end === "no") return undefined;
  let sum = 0;
  let startedAt: number = first.at;
  let endedAt: number = first.at;
  for (const { reward, at } of records) {
    if (reward === null) return undefined;
    sum += reward;
    startedAt = Math.min(startedAt, at);
    endedAt = Math.max(endedAt, at);
  }
  return {
    episode: first.episode,
    agent: first.agent,
    steps: records.length,
    return: sum,
    end: last.end,
    startedAt: startedAt as Ms,
    endedAt: endedAt as Ms,
  };
}

/** Ids are ASCII, so code units order them the same way in JavaScript, DuckDB and InfluxDB. */
export function byId(a: { readonly episode: string }, b: { readonly episode: string }): number {
  return a.episode < b.episode ? -1 : a.episode > b.episode ? 1 : 0;
}

export const bestFirst = (a: EpisodeSummary, b: EpisodeSummary): number => b.return - a.return || byId(a, b);
export const worstFirst = (a: EpisodeSummary, b: EpisodeSummary): number => a.return - b.return || byId(a, b);
export const oldestFirst = (a: EpisodeSummary, b: EpisodeSummary): number => a.endedAt - b.endedAt || byId(a, b);

/** Answers are held in memory, so their size is bounded here, once for all stores. */
export const MAX_ANSWER = 1_000_000;

export function checkedCount(count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= MAX_ANSWER) return count;
  throw new CodedError(
    failure("store.query", `a store was asked for ${count} things; ask for a whole number from 0 to ${MAX_ANSWER}`),
  );
}

export function closedStore(): CodedError {
  return new CodedError(failure("store.closed", "the trajectory store was closed; open it again before using it"));
}
