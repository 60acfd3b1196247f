/**
 * One workload from its first step through training, serving and a series of updates, in one world; then another one, of
 * an application that nobody has seen, in a world of its own.
 * Not here: what is made of it (aware-endtoend.ts).
 */
import { seededRng } from "../../base/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import { applicationPool, drawScene, openWorld, type Scene } from "../../pretraining/index.ts";
import type { Application } from "../../sim/index.ts";
import type { StudyJob } from "../study.ts";
import { practised } from "./adaptation-methods.ts";
import type { AgentDriver } from "./agents.ts";
import type { AwareConfig } from "./config.ts";
import type { Driver, EpisodeTruth } from "./drive.ts";
import { countEpisodes, type Life, lifeOf, play } from "./life.ts";
import { type LoadPool, loadPool } from "./loads.ts";
import { aware, type DriverParts, everLearning, frozen, learningDriver, rulesOnly } from "./methods.ts";
import { openSetting, type Setting, withSloFor } from "./setting.ts";
import { recorded } from "./training-lives.ts";
import { updateSeries } from "./updates.ts";

export interface WholeLifeConfig {
  readonly training: number;
  readonly serving: number;
  readonly updates: number;
  /** Episodes after each update. */
  readonly each: number;
  /** Episodes on the workload that comes after it. */
  readonly unseen: number;
}

/** Who drives; `settle` is called when training is over, `move` when another workload comes. */
interface Rider {
  readonly driver: Driver;
  readonly updates: number;
  settle(): void;
  move(setting: Setting): void;
  dispose(): void;
}

/** Far from the slots of workloads that lives begin with. */
const UNSEEN_SLOT = 5_000;

export interface WholeLife {
  readonly methods: readonly string[];
  /** Pre-trained, with this product's actions: what AWARE meets the unseen application with. */
  readonly shared: SharedModel;
}

/** The life of one seed's workload, and of the one after it, once per method. */
export async function liveWhole<C extends AwareConfig & { readonly life: WholeLifeConfig }>(
  job: StudyJob<C>,
  { methods, shared }: WholeLife,
): Promise<Readonly<Record<string, Life>>> {
  const { seed, config, kernels } = job;
  const { training, serving, updates, each, unseen } = config.life;
  const pool = await loadPool(config.loads, seed);
  const base = drawScene({ seed, slot: seed % 4, ...recorded(pool) });
  const versions = updateSeries(base, { seed, count: updates, pool });
  const setting = openSetting(withSloFor(base, versions), { seed, config });
  const next = openSetting(unseenScene(seed, pool), { seed, config });
  const count = countEpisodes(job, methods.length * (training + serving + updates * each + unseen));
  const parts: DriverParts = { setting, agent: config.agent, kernels, seed };
  const lifeUnder = (method: string): Life => {
    const world = openWorld(setting.scene, { seed: setting.worldSeed, rung: config.rung });
    const rider = riderOf(method, { ...parts, shared });
    const episodes = (number: number): EpisodeTruth[] =>
      play({ setting, world, driver: rider.driver, episodes: number, count });
    const trained = episodes(training);
    rider.settle();
    const truths = [...trained, ...episodes(serving)];
    for (const { application, load } of versions) {
      world.update(setting.scene.workload, { application, load });
      truths.push(...episodes(each));
    }
    rider.move(next);
    const elsewhere = openWorld(next.scene, { seed: next.worldSeed, rung: config.rung });
    truths.push(...play({ setting: next, world: elsewhere, driver: rider.driver, episodes: unseen, count }));
    rider.dispose();
    return lifeOf(truths, rider.updates);
  };
  return Object.fromEntries(methods.map((method) => [method, lifeUnder(method)]));
}

function unseenScene(seed: number, pool: LoadPool): Scene {
  const { unseen } = applicationPool("split");
  const application = unseen[seededRng(seed).fork("whole-life").int(unseen.length)] as Application;
  return drawScene({ seed, slot: UNSEEN_SLOT + (seed % 4), application, ...recorded(pool) });
}

function riderOf(method: string, { shared, ...parts }: DriverParts & { readonly shared: SharedModel }): Rider {
  if (method === "rules") return rulesRider(parts.setting);
  const isFirm = method === "firm";
  let learning = learningDriver(isFirm ? everLearning() : aware(parts.agent), parts);
  let updates = 0;
  const replace = (next: (last: AgentDriver) => AgentDriver) => {
    const last = learning;
    updates += last.updates;
    learning = next(last);
    last.dispose();
  };
  return {
    get driver() {
      return learning;
    },
    get updates() {
      return updates + learning.updates;
    },
    // FIRM is trained for as long as it was meant to be; from then on nobody looks at how it does.
    settle() {
      if (isFirm) replace((last) => learningDriver(frozen(), { ...parts, saved: last.save() }));
    },
    // FIRM takes its policy along and learns on. What AWARE learned of the first workload stays there.
    move(setting) {
      if (isFirm) {
        const agent = practised(parts.agent);
        replace((last) => learningDriver(everLearning(), { ...parts, agent, setting, policy: last.policy() }));
      } else {
        replace(() => learningDriver(aware(parts.agent), { ...parts, setting, shared }));
      }
    },
    dispose: () => learning.dispose(),
  };
}

function rulesRider(first: Setting): Rider {
  let driver = rulesOnly(first);
  return {
    get driver() {
      return driver;
    },
    updates: 0,
    settle: () => undefined,
    move(setting) {
      driver = rulesOnly(setting);
    },
    dispose: () => undefined,
  };
}
