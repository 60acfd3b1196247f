/**
 * One workload from its first step through training, serving and a series of updates, in one world.
 * Not here: what is made of it (aware-endtoend.ts).
 */
import type { StudyJob } from "../study.ts";
import type { AwareConfig } from "./config.ts";
import type { Driver, EpisodeTruth } from "./drive.ts";
import { countEpisodes, type Life, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import { aware, type DriverParts, everLearning, frozen, learningDriver, rulesOnly } from "./methods.ts";
import { drawScene, openWorld } from "./scene.ts";
import { openSetting, withSloFor } from "./setting.ts";
import { recorded } from "./training-lives.ts";
import { updateSeries } from "./updates.ts";

export interface WholeLifeConfig {
  readonly training: number;
  readonly serving: number;
  readonly updates: number;
  /** Episodes after each update. */
  readonly each: number;
}

/** Who drives; `settle` is called when training is over. */
interface Rider {
  readonly driver: Driver;
  readonly updates: number;
  settle(): void;
  dispose(): void;
}

/** The life of one seed's workload, once per method. */
export async function liveWhole<C extends AwareConfig & { readonly life: WholeLifeConfig }>(
  job: StudyJob<C>,
  methods: readonly string[],
): Promise<Readonly<Record<string, Life>>> {
  const { seed, config, kernels } = job;
  const { training, serving, updates, each } = config.life;
  const pool = await loadPool(config.loads, seed);
  const base = drawScene({ seed, slot: seed % 4, ...recorded(pool) });
  const versions = updateSeries(base, { seed, count: updates, pool });
  const setting = openSetting(withSloFor(base, versions), { seed, config });
  const count = countEpisodes(job, methods.length * (training + serving + updates * each));
  const parts: DriverParts = { setting, agent: config.agent, kernels, seed };
  const lifeUnder = (method: string): Life => {
    const world = openWorld(setting.scene, { seed: setting.worldSeed, rung: config.rung });
    const rider = riderOf(method, parts);
    const episodes = (number: number): EpisodeTruth[] =>
      play({ setting, world, driver: rider.driver, episodes: number, count });
    const trained = episodes(training);
    rider.settle();
    const truths = [...trained, ...episodes(serving)];
    for (const { application, load } of versions) {
      world.update(setting.scene.workload, { application, load });
      truths.push(...episodes(each));
    }
    rider.dispose();
    return lifeOf(truths, rider.updates);
  };
  return Object.fromEntries(methods.map((method) => [method, lifeUnder(method)]));
}

function riderOf(method: string, parts: DriverParts): Rider {
  const nothing = () => undefined;
  if (method === "rules") return { driver: rulesOnly(parts.setting), updates: 0, settle: nothing, dispose: nothing };
  let learning = learningDriver(method === "firm" ? everLearning() : aware(parts.agent), parts);
  let updates = 0;
  return {
    get driver() {
      return learning;
    },
    get updates() {
      return updates + learning.updates;
    },
    // FIRM is trained for as long as it was meant to be; from then on nobody looks at how it does.
    settle() {
      if (method !== "firm") return;
      const saved = learning.save();
      updates += learning.updates;
      learning.dispose();
      learning = learningDriver(frozen(), { ...parts, saved });
    },
    dispose: () => learning.dispose(),
  };
}
