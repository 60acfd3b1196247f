/**
 * A trajectory store in memory: for tests, demos and studies that keep nothing.
 * "Durable" means here: as long as the process lives.
 */

import type { AgentId, EpisodeId } from "../../base/index.ts";
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
  summaryOf,
  throwIfProblem,
  transitionOf,
  unknownRecord,
  worstFirst,
} from "../../learn/trajectory/index.ts";

interface Episode {
  readonly agent: AgentId;
  readonly steps: Map<number, TrajectoryRecord>;
}

export function memoryStore(): TrajectoryStore {
  return new MemoryStore();
}

class MemoryStore implements TrajectoryStore {
  readonly #episodes = new Map<EpisodeId, Episode>();
  #isClosed = false;

  async append(records: readonly TrajectoryRecord[]): Promise<AppendReceipt> {
    this.#checkOpen();
    throwIfProblem(problemInRecords(records));
    const fresh = new Map<EpisodeId, Episode>();
    let added = 0;
    for (const record of records) {
      const { episode: id, agent, step } = record;
      const owner = this.#episodes.get(id)?.agent ?? fresh.get(id)?.agent ?? agent;
      if (owner !== agent) throw new CodedError(conflictingAgent(id, { stored: owner, incoming: agent }));
      const known = this.#episodes.get(id)?.steps.get(step) ?? fresh.get(id)?.steps.get(step);
      if (known !== undefined) {
        if (!isRepeat(record, known)) throw new CodedError(conflictingRecord(record));
        continue;
      }
      const episode = fresh.get(id) ?? { agent, steps: new Map() };
      fresh.set(id, episode);
      episode.steps.set(step, ownCopy(record));
      added += 1;
    }
    for (const [id, { agent, steps }] of fresh) {
      const episode = this.#episodes.get(id) ?? { agent, steps: new Map() };
      this.#episodes.set(id, episode);
      for (const [step, record] of steps) episode.steps.set(step, record);
    }
    return { added, repeated: records.length - added };
  }

  async complete(completions: readonly Completion[]): Promise<CompleteReceipt> {
    this.#checkOpen();
    throwIfProblem(problemInCompletions(completions));
    const missing = completions.find((c) => !this.#episodes.get(c.episode)?.steps.has(c.step));
    if (missing !== undefined) throw new CodedError(unknownRecord(missing));
    const changed = new Map<string, TrajectoryRecord>();
    let done = 0;
    for (const completion of completions) {
      const key = `${completion.episode}/${completion.step}`;
      const known = changed.get(key) ?? this.#episodes.get(completion.episode)?.steps.get(completion.step);
      if (known === undefined) continue;
      if (known.reward !== null) {
        if (!isRepeatedCompletion(completion, known)) throw new CodedError(conflictingCompletion(completion));
        continue;
      }
      changed.set(key, ownCopy(completed(known, completion)));
      done += 1;
    }
    for (const record of changed.values()) this.#episodes.get(record.episode)?.steps.set(record.step, record);
    return { completed: done, repeated: completions.length - done };
  }

  async recentRewards(agent: AgentId, count: number): Promise<number[]> {
    this.#checkOpen();
    checkedCount(count);
    const rewarded = [...this.#episodes.values()]
      .filter((episode) => episode.agent === agent)
      .flatMap((episode) => [...episode.steps.values()])
      .filter((record) => record.reward !== null)
      .sort((a, b) => a.at - b.at || byId(a, b) || a.step - b.step);
    return rewarded.slice(Math.max(0, rewarded.length - count)).map((record) => record.reward ?? 0);
  }

  async recentEpisodes(agent: AgentId, count: number): Promise<EpisodeId[]> {
    this.#checkOpen();
    checkedCount(count);
    const newest = (steps: Episode["steps"]) => [...steps.values()].reduce((most, { at }) => Math.max(most, at), 0);
    return [...this.#episodes]
      .filter(([, episode]) => episode.agent === agent)
      .map(([id, { steps }]) => ({ episode: id, at: newest(steps) }))
      .sort((a, b) => b.at - a.at || byId(a, b))
      .slice(0, count)
      .map(({ episode }) => episode);
  }

  async topEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, bestFirst);
  }

  async bottomEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, worstFirst);
  }

  async oldestEpisodes(query: EpisodeQuery): Promise<EpisodeSummary[]> {
    return this.#finished(query, oldestFirst);
  }

  async sample({ count, rng, agent }: SampleQuery): Promise<Transition[]> {
    this.#checkOpen();
    checkedCount(count);
    const eligible: Transition[] = [];
    for (const episode of this.#episodes.values()) {
      if (agent !== undefined && episode.agent !== agent) continue;
      for (const record of episode.steps.values()) {
        const transition = transitionOf(record, episode.steps.get(record.step + 1));
        if (transition !== undefined) eligible.push(transition);
      }
    }
    if (eligible.length === 0) return [];
    return Array.from({ length: count }, () => eligible[rng.int(eligible.length)]).filter((t) => t !== undefined);
  }

  async episode(id: EpisodeId): Promise<TrajectoryRecord[]> {
    this.#checkOpen();
    return inStepOrder(this.#episodes.get(id));
  }

  async counts(): Promise<StoreCounts> {
    this.#checkOpen();
    let records = 0;
    let pending = 0;
    for (const { steps } of this.#episodes.values()) {
      records += steps.size;
      for (const record of steps.values()) if (record.reward === null) pending += 1;
    }
    return { episodes: this.#episodes.size, records, pending };
  }

  async *scan(): AsyncIterable<readonly TrajectoryRecord[]> {
    this.#checkOpen();
    for (const id of [...this.#episodes.keys()]) {
      const records = inStepOrder(this.#episodes.get(id));
      if (records.length > 0) yield records;
    }
  }

  async forget(episodes: readonly EpisodeId[]): Promise<number> {
    this.#checkOpen();
    let gone = 0;
    for (const id of episodes) {
      gone += this.#episodes.get(id)?.steps.size ?? 0;
      this.#episodes.delete(id);
    }
    return gone;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#episodes.clear();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedStore();
  }

  #finished({ count, agent }: EpisodeQuery, order: (a: EpisodeSummary, b: EpisodeSummary) => number): EpisodeSummary[] {
    this.#checkOpen();
    checkedCount(count);
    return [...this.#episodes.values()]
      .filter((episode) => agent === undefined || episode.agent === agent)
      .map((episode) => summaryOf(inStepOrder(episode)))
      .filter((summary) => summary !== undefined)
      .sort(order)
      .slice(0, count);
  }
}

function inStepOrder(episode: Episode | undefined): TrajectoryRecord[] {
  return episode === undefined ? [] : [...episode.steps.values()].sort((a, b) => a.step - b.step);
}
