/**
 * One workload's life from its first day, under one method: what the training studies compare.
 * Not here: which methods and how many (aware-bootstrap.ts, aware-characterization.ts).
 */

import { drawScene, openWorld } from "../../pretraining/index.ts";
import type { StudyJob } from "../study.ts";
import type { AwareConfig } from "./config.ts";
import type { Life } from "./life.ts";
import { countEpisodes, type EpisodeCount, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import { type LearningMethod, learningDriver, rulesOnly } from "./methods.ts";
import { openSetting, type Setting } from "./setting.ts";

export interface LifeChoice {
  readonly slot: number;
  readonly episodes: number;
  /** null: the rules alone. */
  readonly method: LearningMethod | null;
}

type Job<C extends AwareConfig> = StudyJob<C>;

export async function liveFromBirth<C extends AwareConfig>(job: Job<C>, choice: LifeChoice): Promise<Life> {
  const { seed, config } = job;
  const scene = drawScene({ seed, slot: choice.slot, ...recorded(await loadPool(config.loads, seed)) });
  const setting = openSetting(scene, { seed, config });
  return playLife(job, { ...choice, setting, count: countEpisodes(job, choice.episodes) });
}

/** What `drawScene` takes, without a key where there is nothing. */
export const recorded = <P>(pool: P | undefined): { readonly recorded?: P } => (pool ? { recorded: pool } : {});

interface Played extends LifeChoice {
  readonly setting: Setting;
  readonly count: EpisodeCount;
}

function playLife<C extends AwareConfig>({ seed, config, kernels }: Job<C>, choice: Played): Life {
  const { setting, episodes, method, count } = choice;
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung: config.rung });
  if (method === null) return lifeOf(play({ setting, world, driver: rulesOnly(setting), episodes, count }), 0);
  const driver = learningDriver(method, { setting, agent: config.agent, kernels, seed });
  const truths = play({ setting, world, driver, episodes, count });
  driver.dispose();
  return lifeOf(truths, driver.updates);
}
