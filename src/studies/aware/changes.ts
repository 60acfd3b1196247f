/**
 * What a change does to a converged policy: the reward it loses at once, and the episodes until it has learned again.
 * Each change is played three times from the same moment, under the same hours of load: the frozen policy where nothing
 * changed, the frozen policy after the change, and the policy that goes on learning after it.
 * Not here: training the policy (converge.ts), the table (aware-characterization.ts).
 */
import { seededRng } from "../../base/index.ts";
import { drawScene, openWorld, type Scene } from "../../pretraining/index.ts";
import { scenariosFor } from "../../sim/index.ts";
import { shuffled } from "../shuffled.ts";
import { mean, sum } from "../statistics/index.ts";
import type { StudyJob } from "../study.ts";
import type { AwareConfig } from "./config.ts";
import type { ConvergedPolicy } from "./converge.ts";
import { converge, episodesToLevel, type LevelOptions } from "./converge.ts";
import { countEpisodes, type EpisodeCount, lifeOf, play } from "./life.ts";
import { type LoadPool, loadPool } from "./loads.ts";
import type { DriverParts, LearningMethod } from "./methods.ts";
import { everLearning, frozen, learningDriver, rulesOnly } from "./methods.ts";
import { openSetting, type Setting, withSloFor } from "./setting.ts";
import { recorded } from "./training-lives.ts";
import { applyUpdate } from "./updates.ts";

export interface ChangeConfig {
  /** Episodes of training before the change. */
  readonly converge: number;
  /** Payload scenarios per scene, of those that apply. */
  readonly payloads: number;
  /** Episodes over which the drop is taken. */
  readonly drop: number;
  /** Episodes of learning after the change: more than this is not waited for. */
  readonly relearn: number;
  readonly level: LevelOptions;
}

export interface ChangeOutcome {
  /** "application", "high-to-low", "low-to-high" or a payload scenario. */
  readonly change: string;
  /** Rewards of the frozen policy after the change, and had there been none. */
  readonly after: number;
  readonly without: number;
  /** Episodes to the level on which learning ended. */
  readonly episodes: number;
}

interface Changed {
  readonly change: string;
  readonly scene: Scene;
}

/** Scenes of the same level and kind of SLO as this one have numbers four apart. */
const KINDS = 4;

export async function playChanges<C extends AwareConfig & { readonly changes: ChangeConfig }>(
  job: StudyJob<C>,
  slot: number,
): Promise<readonly ChangeOutcome[]> {
  const { seed, config, kernels } = job;
  const { changes } = config;
  const pool = await loadPool(config.loads, seed);
  const base = drawScene({ seed, slot, ...recorded(pool) });
  const changed = changesOf(base, { seed, slot, pool, payloads: changes.payloads });
  const scene = withSloFor(
    base,
    changed.filter(({ change }) => change !== "application").map((one) => one.scene),
  );
  const setting = openSetting(scene, { seed, config });
  const parts: DriverParts = { setting, agent: config.agent, kernels, seed };
  const all = changes.converge + changes.drop + changed.length * (changes.drop + 2 * changes.relearn);
  const count = countEpisodes(job, all);
  const policy = converge({ parts, rung: config.rung, episodes: changes.converge, count });
  const player = { policy, parts, rung: config.rung, count };
  const without = sum(rewardsOf(player, { setting, method: frozen(), episodes: changes.drop }));
  return changed.map(({ change, scene: next }) => {
    // The agent keeps its task, and with it the SLO it was given; another application comes with its own.
    const moved =
      change === "application"
        ? openSetting(next, { seed, config })
        : { ...setting, scene: { ...next, slo: scene.slo } };
    const after = sum(rewardsOf(player, { setting: moved, method: frozen(), episodes: changes.drop }));
    const relearned = rewardsOf(player, { setting: moved, method: everLearning(), episodes: changes.relearn });
    const rules = rewardsOf(player, { setting: moved, method: null, episodes: changes.relearn });
    // The hours' ups and downs are in the rules' rewards too.
    const curve = relearned.map((reward, e) => reward / Math.max(1, rules[e] ?? 1));
    return { change, after, without, episodes: episodesToLevel(curve, changes.level) };
  });
}

interface ChangesOptions {
  readonly seed: number;
  readonly slot: number;
  readonly pool: LoadPool;
  readonly payloads: number;
}

function changesOf(scene: Scene, { seed, slot, pool, payloads }: ChangesOptions): readonly Changed[] {
  const rng = seededRng(seed).fork("changes").fork(slot);
  const other = drawScene({ seed, slot: slot + KINDS, ...recorded(pool) });
  const scenarios = scenariosFor(scene.application);
  const chosen = shuffled(
    scenarios.filter(({ payload }) => payload !== null),
    rng.fork("payloads"),
  ).slice(0, payloads);
  const loads = scenarios.filter(({ payload }) => payload === null);
  return [
    // An agent's state belongs to a workload by its name: this is the same deployment with other software in it.
    { change: "application", scene: { ...other, workload: scene.workload } },
    ...[...loads, ...chosen].map((scenario) => ({
      change: scenario.payload === null ? loadChange(scene) : scenario.name,
      scene: { ...scene, ...applyUpdate(scene, { scenario, pool, rng: rng.fork(scenario.name) }) },
    })),
  ];
}

const loadChange = ({ load }: Scene): string => (load.level === "high" ? "high-to-low" : "low-to-high");

interface Player {
  readonly policy: ConvergedPolicy;
  readonly parts: DriverParts;
  readonly rung: AwareConfig["rung"];
  readonly count: EpisodeCount;
}

interface Episodes {
  readonly setting: Setting;
  /** null: the rules. */
  readonly method: LearningMethod | null;
  readonly episodes: number;
}

/**
 * Rewards from the moment at which the policy had converged. The deployment begins as the scene says and not as the
 * policy left it: what a bad policy left, such as one pod without memory, would be held against those who follow.
 */
function rewardsOf({ policy, parts, rung, count }: Player, { setting, method, episodes }: Episodes): readonly number[] {
  const { saved, at } = policy;
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung, start: at });
  if (method === null) return lifeOf(play({ setting, world, driver: rulesOnly(setting), episodes, count }), 0).reward;
  const driver = learningDriver(method, { ...parts, setting, saved });
  const { reward } = lifeOf(play({ setting, world, driver, episodes, count }), driver.updates);
  driver.dispose();
  return reward;
}

/** Of one change over scenes: rewards pooled, episodes averaged. */
export function poolChanges(outcomes: readonly ChangeOutcome[]): {
  readonly after: number;
  readonly without: number;
  readonly episodes: number;
} {
  return {
    after: sum(outcomes.map(({ after }) => after)),
    without: sum(outcomes.map(({ without }) => without)),
    episodes: mean(outcomes.map(({ episodes }) => episodes)),
  };
}
