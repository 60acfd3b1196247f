/**
 * Policies trained to convergence, and how long one takes to converge again.
 * Owns: training before a study begins to count, freezing the outcome, the moment at which a curve has reached its level.
 * Not here: the methods (methods.ts), what happens to the policy afterwards (the studies).
 */
import type { Ms } from "../../base/index.ts";
import { openWorld, type WorldChoice } from "../../pretraining/index.ts";
import type { ClusterWorld } from "../../sim/index.ts";
import { mean } from "../statistics/index.ts";
import type { AgentDriver } from "./agents.ts";
import type { EpisodeCount } from "./life.ts";
import { play } from "./life.ts";
import type { DriverParts, Form, LearningMethod } from "./methods.ts";
import { awareOfPaper, frozen, learningDriver } from "./methods.ts";

/** A policy at the end of its training, in SERVING, and the moment at which it goes on. */
export interface ConvergedPolicy {
  readonly saved: Uint8Array;
  readonly at: Ms;
  /** Episodes it took, with those that only filled the window of SERVING. */
  readonly episodes: number;
  readonly updates: number;
}

export interface ConvergeOptions {
  readonly parts: DriverParts;
  readonly rung: WorldChoice["rung"];
  readonly episodes: number;
  readonly count: EpisodeCount;
  /** How it learns; from the rules' episodes first where nothing is said. */
  readonly method?: LearningMethod;
  /** Where it begins; the load's first midnight where nothing is said. */
  readonly start?: Ms;
}

/** A fresh window of OFFLINE and one of ONLINE, and one more episode each: even a new agent is in SERVING by then. */
const MOST_TO_FREEZE = 24;

/** Trained for a fixed number of episodes, then frozen as it is: a life needs an end that does not depend on luck. */
export function converge(options: ConvergeOptions): ConvergedPolicy {
  const { parts, rung, episodes, count, method = awareOfPaper, start } = options;
  const { setting } = parts;
  const world = openWorld(setting.scene, {
    seed: setting.worldSeed,
    rung,
    ...(start === undefined ? {} : { start }),
  });
  const learning = learningDriver(method, parts);
  play({ setting, world, driver: learning, episodes, count });
  const { updates } = learning;
  const { driver, played } = freeze({
    world,
    parts: { ...parts, saved: released(learning) },
    form: { shield: method.shield, actions: method.actions },
    count,
  });
  return { saved: released(driver), at: world.now, episodes: episodes + played, updates };
}

/** The agent's state, and its memory given back. */
function released(driver: AgentDriver): Uint8Array {
  const saved = driver.save();
  driver.dispose();
  return saved;
}

interface FreezeOptions {
  readonly world: ClusterWorld;
  readonly parts: DriverParts;
  readonly form: Form;
  readonly count: EpisodeCount;
}

function freeze({ world, parts, form, count }: FreezeOptions): {
  readonly driver: AgentDriver;
  readonly played: number;
} {
  const driver = learningDriver(frozen(form), parts);
  let played = 0;
  for (; driver.stage !== "SERVING" && played < MOST_TO_FREEZE; played++) {
    play({ setting: parts.setting, world, driver, episodes: 1, count });
  }
  return { driver, played };
}

export interface LevelOptions {
  /** Episodes over which a mean is taken. */
  readonly window: number;
  /** The last episodes, whose mean is the level. */
  readonly level: number;
  /** How far below the level still counts as there, as a share of it. */
  readonly within: number;
}

/** The mean of the last episodes: what learning ended on. */
export const endLevel = (curve: readonly number[], { level }: Pick<LevelOptions, "level">): number =>
  mean(curve.slice(-level));

/**
 * Episodes until a window's mean first reaches the level that the curve ends on, or the one that is given; 0 where the
 * first window does, and the curve's length where none before the last episodes does.
 */
export function episodesToLevel(
  curve: readonly number[],
  { window, level, within }: LevelOptions,
  reached: number = endLevel(curve, { level }),
): number {
  const goal = reached * (1 - within);
  for (let from = 0; from + window <= curve.length - level; from++) {
    if (mean(curve.slice(from, from + window)) >= goal) return from;
  }
  return curve.length - level;
}
