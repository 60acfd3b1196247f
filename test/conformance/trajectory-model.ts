/**
 * The simplest store that could be right: one flat list of records and loops over it.
 * It shares no code with the stores, so an error in their common helpers shows as a difference.
 */

import type { AgentId, EpisodeId, Ms } from "../../src/base/index.ts";
import type { Completion, EpisodeEnd, EpisodeSummary, TrajectoryRecord } from "../../src/learn/trajectory/index.ts";

export type Outcome = { readonly changed: number; readonly repeated: number } | { readonly code: string };

/** A record as text: equal texts are equal records, to the bit. */
export function fingerprint(record: TrajectoryRecord): string {
  const vector = (v: Float32Array | undefined) =>
    v === undefined ? "-" : Buffer.from(v.buffer, v.byteOffset, v.byteLength).toString("hex");
  const number = (n: number | null) => (Object.is(n, -0) ? "-0" : String(n));
  return [
    record.episode,
    record.agent,
    record.step,
    number(record.at),
    number(record.logProb),
    number(record.reward),
    record.end,
    vector(record.obs),
    vector(record.proposed),
    vector(record.executed),
    vector(record.actorContext),
    vector(record.criticContext),
    vector(record.finalObs),
  ].join("|");
}

export class TrajectoryModel {
  records: TrajectoryRecord[] = [];

  append(batch: readonly TrajectoryRecord[]): Outcome {
    const after = [...this.records];
    let repeated = 0;
    for (const incoming of batch) {
      if (after.some((r) => r.episode === incoming.episode && r.agent !== incoming.agent))
        return { code: "store.conflict" };
      const stored = after.find((r) => r.episode === incoming.episode && r.step === incoming.step);
      if (stored === undefined) {
        after.push(incoming);
        continue;
      }
      // A pending newcomer is a retry from before the reward: what came late is not compared.
      const { finalObs: _, ...rest } = stored;
      const early: TrajectoryRecord = {
        ...rest,
        reward: null,
        end: incoming.end,
        ...(incoming.finalObs ? { finalObs: incoming.finalObs } : {}),
      };
      const expected = incoming.reward === null ? early : stored;
      if (fingerprint(expected) !== fingerprint(incoming)) return { code: "store.conflict" };
      repeated += 1;
    }
    this.records = after;
    return { changed: batch.length - repeated, repeated };
  }

  complete(batch: readonly Completion[]): Outcome {
    const after = [...this.records];
    let repeated = 0;
    // The port asks for unknown steps to be reported before conflicts.
    const known = (c: Completion) => after.some((r) => r.episode === c.episode && r.step === c.step);
    if (!batch.every(known)) return { code: "store.unknown-record" };
    for (const { episode, step, reward, end, finalObs } of batch) {
      const index = after.findIndex((r) => r.episode === episode && r.step === step);
      const stored = after[index];
      if (stored === undefined) return { code: "store.unknown-record" };
      const done: TrajectoryRecord = { ...stored, reward, end: end ?? stored.end, ...(finalObs ? { finalObs } : {}) };
      if (stored.reward === null) {
        after[index] = done;
      } else {
        if (fingerprint(done) !== fingerprint(stored)) return { code: "store.conflict" };
        repeated += 1;
      }
    }
    this.records = after;
    return { changed: batch.length - repeated, repeated };
  }

  forget(episodes: readonly EpisodeId[]): number {
    const before = this.records.length;
    this.records = this.records.filter((r) => !episodes.includes(r.episode));
    return before - this.records.length;
  }

  episodes(): EpisodeId[] {
    return [...new Set(this.records.map((r) => r.episode))].sort();
  }

  episode(id: EpisodeId): TrajectoryRecord[] {
    return this.records.filter((r) => r.episode === id).sort((a, b) => a.step - b.step);
  }

  recentRewards(agent: AgentId, count: number): number[] {
    const rewarded = this.records.filter((r) => r.agent === agent && r.reward !== null);
    rewarded.sort((a, b) => a.at - b.at || (a.episode < b.episode ? -1 : a.episode > b.episode ? 1 : a.step - b.step));
    return count === 0 ? [] : rewarded.slice(-count).map((r) => r.reward ?? 0);
  }

  recentEpisodes(agent: AgentId, count: number): EpisodeId[] {
    const newest = (id: EpisodeId) => Math.max(...this.episode(id).map((r) => r.at));
    const own = this.episodes().filter((id) => this.episode(id)[0]?.agent === agent);
    return own.sort((a, b) => newest(b) - newest(a) || (a < b ? -1 : 1)).slice(0, count);
  }

  finished(agent?: AgentId): EpisodeSummary[] {
    return this.episodes().flatMap((id) => {
      const records = this.episode(id);
      const first = records[0];
      const end: EpisodeEnd = records.at(-1)?.end ?? "no";
      if (first === undefined || end === "no" || records.some((r) => r.reward === null)) return [];
      if (agent !== undefined && first.agent !== agent) return [];
      const times = records.map((r) => r.at as number);
      return [
        {
          episode: id,
          agent: first.agent,
          steps: records.length,
          return: records.reduce((sum, r) => sum + (r.reward ?? 0), 0),
          end,
          startedAt: Math.min(...times) as Ms,
          endedAt: Math.max(...times) as Ms,
        },
      ];
    });
  }

  /** Every transition as text: the record and the observation that followed. */
  transitions(agent?: AgentId): Set<string> {
    const texts = new Set<string>();
    for (const record of this.records) {
      if (record.reward === null || (agent !== undefined && record.agent !== agent)) continue;
      const next = this.records.find((r) => r.episode === record.episode && r.step === record.step + 1);
      if (record.end === "no" && next !== undefined) texts.add(transitionText(record, next.obs));
      if (record.end !== "no" && record.finalObs !== undefined) texts.add(transitionText(record, record.finalObs));
      if (record.end === "terminated" && record.finalObs === undefined) texts.add(transitionText(record, null));
    }
    return texts;
  }
}

export function transitionText(record: TrajectoryRecord, nextObs: Float32Array | null): string {
  return `${fingerprint(record)} -> ${nextObs === null ? "nothing" : [...nextObs].map((v) => (Object.is(v, -0) ? "-0" : v)).join(",")}`;
}
