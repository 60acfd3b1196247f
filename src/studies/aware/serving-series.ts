/**
 * A converged policy through a series of updates, under several ways of keeping it.
 * Owns: the series, the policies that were retrained for each version beforehand, playing one method through it.
 * Not here: training (converge.ts), the rows (aware-serving.ts).
 */

import { drawScene, openWorld } from "../../pretraining/index.ts";
import type { StudyJob } from "../study.ts";
import type { AgentDriver } from "./agents.ts";
import { type AwareConfig, isSwept } from "./config.ts";
import type { ConvergedPolicy } from "./converge.ts";
import { converge } from "./converge.ts";
import type { Driver, EpisodeTruth } from "./drive.ts";
import { countEpisodes, type EpisodeCount, type Life, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import type { DriverParts, LearningMethod } from "./methods.ts";
import {
  aware,
  awareOfPaper,
  awareOfPaperHighStakes,
  awareShielded,
  everLearning,
  frozen,
  learningDriver,
  ours,
  retrainedBelow,
  rulesOnly,
} from "./methods.ts";
import { openSetting, withSloFor } from "./setting.ts";
import { recorded } from "./training-lives.ts";
import { updateSeries, type Version } from "./updates.ts";

export interface SeriesConfig {
  /** Episodes of training before the series. */
  readonly converge: number;
  /** Episodes before the first update; they are played and not counted. */
  readonly before: number;
  readonly updates: number;
  /** Episodes after each update. */
  readonly each: number;
  /** Episodes of retraining, per version, for the converged policy. */
  readonly retrain: number;
  /** How far below the converged level retraining begins; swept in the paper's algorithm. */
  readonly thresholds: readonly number[];
  /** Of ten seeds, how many are swept. */
  readonly sweptOfTen: number;
}

export interface SeriesResult {
  readonly scenarios: readonly string[];
  /** By method, from the first update on. */
  readonly lives: Readonly<Record<string, Life>>;
}

interface Series {
  readonly parts: DriverParts;
  readonly rung: AwareConfig["rung"];
  /** Trained behind the shield: its wishes are those of a policy that has one. */
  readonly policy: ConvergedPolicy;
  /** Trained as published, without one. */
  readonly bare: ConvergedPolicy;
  readonly versions: readonly Version[];
  readonly series: SeriesConfig;
  readonly count: EpisodeCount;
}

export async function playSeries<C extends AwareConfig & { readonly series: SeriesConfig }>(
  job: StudyJob<C>,
): Promise<SeriesResult> {
  const { seed, config, kernels } = job;
  const { series, agent, rung } = config;
  const pool = await loadPool(config.loads, seed);
  // Kinds of scenes in turn: high and low loads, every fourth with a throughput SLO.
  const base = drawScene({ seed, slot: seed % 4, ...recorded(pool) });
  const versions = updateSeries(base, { seed, count: series.updates, pool });
  const setting = openSetting(withSloFor(base, versions), { seed, config });
  const parts: DriverParts = { setting, agent, kernels, seed };
  const swept = isSwept(seed, series.sweptOfTen) ? series.thresholds : [];
  const length = series.before + series.updates * series.each;
  const count = countEpisodes(job, 2 * series.converge + series.updates * series.retrain + (7 + swept.length) * length);
  const trained = (method: LearningMethod) => converge({ parts, rung, episodes: series.converge, count, method });
  const policy = trained(awareShielded(agent));
  // From the same moment on, or the methods would not meet the same requests.
  const bare = { ...trained(awareOfPaper), at: policy.at };
  const all: Series = { parts, rung, policy, bare, versions, series, count };
  const lives: Record<string, Life> = {
    rules: playRules(all),
    "no-retraining": playMethod(all, frozen(), bare),
    "no-retraining-shield": playMethod(all, frozen(ours(agent))),
    "aware-paper": playMethod(all, awareOfPaper, bare),
    "aware-paper-high": playMethod(all, awareOfPaperHighStakes, bare),
    aware: playMethod(all, aware(agent)),
    converged: playConverged(all),
  };
  for (const below of swept) lives[`below-${below}`] = playMethod(all, retrainedBelow(below), bare);
  return { scenarios: versions.map(({ name }) => name), lives };
}

/** Through all versions; `driverOf` is asked before the series and at each update. */
function through(series: Series, driverOf: (version: number) => Driver): EpisodeTruth[] {
  const { parts, rung, policy, versions, count } = series;
  const { setting } = parts;
  const { before, each } = series.series;
  const { workload } = setting.scene;
  // As the scene says and not as the policy left it: what a bad policy left would be held against those who follow.
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung, start: policy.at });
  play({ setting, world, driver: driverOf(-1), episodes: before, count });
  return versions.flatMap(({ application, load }, k) => {
    world.update(workload, { application, load });
    return play({ setting, world, driver: driverOf(k), episodes: each, count });
  });
}

function playRules(series: Series): Life {
  const driver = rulesOnly(series.parts.setting);
  return lifeOf(
    through(series, () => driver),
    0,
  );
}

function playMethod(series: Series, method: LearningMethod, policy: ConvergedPolicy = series.policy): Life {
  const driver = learningDriver(method, { ...series.parts, saved: policy.saved });
  const truths = through(series, () => driver);
  const { updates } = driver;
  driver.dispose();
  return lifeOf(truths, updates);
}

/** At each update a policy takes over that was retrained for that very version beforehand, and serves as it is. */
function playConverged(series: Series): Life {
  const { parts, policy, versions, count, rung } = series;
  const { saved, at } = policy;
  const retrained = versions.map(({ application, load }) => {
    const setting = { ...parts.setting, scene: { ...parts.setting.scene, application, load } };
    return converge({
      parts: { ...parts, setting, saved },
      rung,
      episodes: series.series.retrain,
      count,
      method: everLearning(ours(parts.agent)),
      start: at,
    });
  });
  const drivers: AgentDriver[] = [];
  const truths = through(series, (version) => {
    const driver = learningDriver(frozen(ours(parts.agent)), { ...parts, saved: retrained[version]?.saved ?? saved });
    drivers.push(driver);
    return driver;
  });
  for (const driver of drivers) driver.dispose();
  return lifeOf(
    truths,
    retrained.reduce((all, { updates }) => all + updates, 0),
  );
}
