/**
 * A life as columns: one number per episode, small enough to keep, and the sums that rows are made of.
 * Owns: the plain form of episodes, spans of them, playing them while the run may be stopped.
 * Not here: the score of one episode (drive.ts), comparing lives (compare.ts).
 */
import type { ClusterWorld } from "../../sim/index.ts";
import { sum } from "../statistics/index.ts";
import type { StudyJob } from "../study.ts";
import type { Driver, EpisodeTruth } from "./drive.ts";
import { driveEpisode } from "./drive.ts";
import type { Setting } from "./setting.ts";

const columns = [
  "reward",
  "violations",
  "cpuUsed",
  "cpuLimit",
  "memoryUsed",
  "memoryLimit",
  "cost",
  "oomKills",
] as const;
export type Column = (typeof columns)[number];

/** Plain JSON: it crosses threads and is kept on the disk. */
export type Life = { readonly [column in Column]: readonly number[] } & {
  /** The stage at the beginning of each episode: O for OFFLINE, N for ONLINE, S for SERVING, - for rules. */
  readonly stages: string;
  /** Gradient updates until its end. */
  readonly updates: number;
};

/** From the first to before the last; absent: to the end. */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

export const WHOLE: Span = { from: 0 };

/** Nothing is claimed to more digits, and a life of 400 episodes stays below 20 kB. */
const rounded = (value: number): number => Number(value.toPrecision(5));

const letters: Readonly<Record<string, string>> = { OFFLINE: "O", ONLINE: "N", SERVING: "S" };

export function lifeOf(episodes: readonly EpisodeTruth[], updates: number): Life {
  const column = (name: Column) => episodes.map((episode) => rounded(episode[name]));
  return {
    ...(Object.fromEntries(columns.map((name) => [name, column(name)])) as Record<Column, number[]>),
    stages: episodes.map(({ stage }) => letters[stage] ?? "-").join(""),
    updates,
  };
}

export const lengthOf = (life: Life): number => life.reward.length;

export function total(life: Life, column: Column, { from, to }: Span = WHOLE): number {
  return sum(life[column].slice(from, to));
}

/** Use over limit, both summed over the span: what the operator paid for and what was needed of it. */
export function utilisation(life: Life, resource: "cpu" | "memory", span: Span = WHOLE): number {
  const limit = total(life, `${resource}Limit`, span);
  return limit > 0 ? total(life, `${resource}Used`, span) / limit : 0;
}

/** Reward per episode. */
export function meanReward(life: Life, span: Span = WHOLE): number {
  return total(life, "reward", span) / Math.max(1, life.reward.slice(span.from, span.to).length);
}

/** Share of the span's episodes that began in the stage. */
export function stageShare(life: Life, letter: string, { from, to }: Span = WHOLE): number {
  const span = [...life.stages.slice(from, to)];
  return span.filter((stage) => stage === letter).length / Math.max(1, span.length);
}

/** Counts a job's episodes: progress for people, and an ear for those who want it to stop. */
export interface EpisodeCount {
  next(): void;
}

export function countEpisodes({ progress, signal }: Pick<StudyJob, "progress" | "signal">, all: number): EpisodeCount {
  let done = 0;
  return {
    next() {
      done += 1;
      progress(Math.min(1, done / Math.max(1, all)));
      signal.throwIfAborted();
    },
  };
}

export interface PlayOptions {
  readonly setting: Setting;
  readonly world: ClusterWorld;
  readonly driver: Driver;
  readonly episodes: number;
  readonly count: EpisodeCount;
}

/** The next episodes of a life that goes on. */
export function play({ setting, world, driver, episodes, count }: PlayOptions): EpisodeTruth[] {
  const { scene, task } = setting;
  return Array.from({ length: episodes }, () => {
    const truth = driveEpisode({ scene, world, driver, task });
    count.next();
    return truth;
  });
}
