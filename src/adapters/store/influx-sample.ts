/**
 * Uniform sampling from InfluxDB, which cannot draw rows.
 * Episodes are drawn by how many records they have, then a record within; what is no transition is rejected, which
 * leaves the rest uniform. Only episodes that were drawn are read. When too many draws are rejected, all are read.
 */

import type { EpisodeId, Rng } from "../../base/index.ts";
import type { TrajectoryRecord, Transition } from "../../learn/trajectory/index.ts";
import { transitionOf } from "../../learn/trajectory/index.ts";
import type { SeriesSummary } from "./influx-points.ts";

type Read = (episodes: readonly EpisodeId[]) => Promise<ReadonlyMap<EpisodeId, readonly TrajectoryRecord[]>>;

interface Draw {
  readonly count: number;
  readonly rng: Rng;
  readonly series: readonly SeriesSummary[];
  readonly read: Read;
}

const ROUNDS = 3;

export async function sampleEpisodes({ count, rng, series, read }: Draw): Promise<Transition[]> {
  const total = series.reduce((sum, s) => sum + s.records, 0);
  const sample: Transition[] = [];
  const episodes = new Map<EpisodeId, readonly (Transition | undefined)[]>();
  const load = async (ids: Iterable<EpisodeId>): Promise<void> => {
    const missing = [...new Set(ids)].filter((id) => !episodes.has(id));
    for (const [id, records] of await read(missing)) episodes.set(id, transitionsOf(records));
  };
  for (let round = 0; round < ROUNDS && sample.length < count && total > 0; round++) {
    const draws = Array.from({ length: count - sample.length }, () => locate(series, rng.int(total)));
    await load(draws.map(({ episode }) => episode));
    for (const { episode, index } of draws) {
      const transition = episodes.get(episode)?.[index];
      if (transition !== undefined) sample.push(transition);
    }
  }
  if (sample.length === count || total === 0) return sample;
  await load(series.map(({ episode }) => episode));
  const all = series.flatMap(({ episode }) => episodes.get(episode) ?? []).filter((t) => t !== undefined);
  while (sample.length < count && all.length > 0) sample.push(pick(all, rng));
  return sample;
}

function pick(all: readonly Transition[], rng: Rng): Transition {
  const chosen = all[rng.int(all.length)];
  if (chosen === undefined) throw new RangeError("drew beyond the end of a list");
  return chosen;
}

function transitionsOf(records: readonly TrajectoryRecord[]): (Transition | undefined)[] {
  const byStep = new Map(records.map((record) => [record.step, record]));
  return records.map((record) => transitionOf(record, byStep.get(record.step + 1)));
}

/** The episode and the place in it of the n-th record of all. */
function locate(series: readonly SeriesSummary[], n: number): { episode: EpisodeId; index: number } {
  let left = n;
  for (const { episode, records } of series) {
    if (left < records) return { episode, index: left };
    left -= records;
  }
  throw new RangeError(`there is no record ${n}`);
}
