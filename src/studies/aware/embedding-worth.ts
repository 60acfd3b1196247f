/**
 * What knowing a workload is worth: to a policy that sets limits, under the embedding of its first trajectories, and to the
 * product's agent, whose capacity model begins with what workloads needed that looked like this one.
 * Owns: playing both beside nothing, and beside what is known of another workload. Not here: the rows (embedding-rows.ts).
 */
import { unwrap } from "../../base/index.ts";
import type { PriorModel } from "../../control/tasks/pods/index.ts";
import { decodePretrained } from "../../learn/meta/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import { drawScene, earnUnseen, knownKnees, openWorld } from "../../pretraining/index.ts";
import { mean } from "../statistics/index.ts";
import type { StudyJob } from "../study.ts";
import type { AwareConfig } from "./config.ts";
import { countEpisodes, type Life, lifeOf, play } from "./life.ts";
import { loadPool } from "./loads.ts";
import { rulesOnly } from "./methods.ts";
import { steeringDriver } from "./savings.ts";
import { openSetting } from "./setting.ts";
import { recorded } from "./training-lives.ts";

/** Mean over unseen applications of what an episode in limits earns, nothing fine-tuned. */
export interface WorthInLimits {
  readonly embedded: number;
  readonly neutral: number;
  readonly stranger: number;
}

/** The first hours of the seed's workloads, by who acts: `agent` begins with no prior, the others with one. */
export type FirstLives = readonly Readonly<Record<"rules" | "agent" | "own" | "stranger", Life>>[];

export interface WorthConfig extends Pick<AwareConfig, "loads" | "alpha" | "episodeSteps" | "rules" | "trialHours"> {
  /** Unseen applications, and episodes of each under every embedding. */
  readonly limits: { readonly members: number; readonly trajectories: number; readonly episodes: number };
  readonly prior: {
    readonly slots: readonly number[];
    readonly episodes: number;
    /** Known applications that the prior is from, and control steps that each was played for. */
    readonly known: { readonly seed: number; readonly applications: number; readonly steps: number };
    readonly width: number;
  };
}

interface InLimits {
  readonly seed: number;
  readonly kernels: Kernels;
  readonly model: Uint8Array;
  readonly noise: number;
  readonly rung: "fluid" | "event";
  onMember(done: number): void;
}

export function worthInLimits({ limits }: WorthConfig, { model, ...options }: InLimits): WorthInLimits {
  const earned = earnUnseen({
    ...options,
    ...limits,
    model: unwrap(decodePretrained(model)),
    isTrained: true,
    actions: "limits",
  });
  return {
    embedded: mean(earned.map(({ embedded }) => embedded)),
    neutral: mean(earned.map(({ neutral }) => neutral)),
    stranger: mean(earned.map(({ stranger }) => stranger)),
  };
}

/** In the event world, from the first minute of each workload on; the rules act until the agent may. */
export async function firstLives(job: StudyJob<{ readonly worth: WorthConfig }>): Promise<FirstLives> {
  const { seed, kernels } = job;
  const config = job.config.worth;
  const { slots, episodes, known, width } = config.prior;
  const own = rememberedPrior(known, width);
  const pool = await loadPool(config.loads, seed);
  const count = countEpisodes(job, 4 * slots.length * episodes);
  return slots.map((slot) => {
    const setting = openSetting(drawScene({ seed, slot, days: "varied", ...recorded(pool) }), { seed, config });
    const life = (driver: Parameters<typeof play>[0]["driver"]): Life => {
      const world = openWorld(setting.scene, { seed: setting.worldSeed, rung: "event" });
      return lifeOf(play({ setting, world, driver, episodes, count }), 0);
    };
    const agent = (prior?: PriorModel): Life => {
      const driver = steeringDriver(setting, { kernels, seed, ...(prior ? { prior } : {}) });
      const lived = life(driver);
      driver.dispose();
      return lived;
    };
    return { rules: life(rulesOnly(setting)), agent: agent(), own: agent(own), stranger: agent(estranged(own)) };
  });
}

/** Every workload is taken for one that it is not. */
export function estranged(prior: PriorModel): PriorModel {
  const { known } = prior;
  const half = Math.ceil(known.length / 2);
  return {
    ...prior,
    known: known.map((one, i) => ({ ...one, looks: known[(i + half) % known.length]?.looks ?? one.looks })),
  };
}

/** Seeds are played one after another on a thread, and all begin with the same. */
let made: { readonly key: string; readonly prior: PriorModel } | undefined;

function rememberedPrior(known: WorthConfig["prior"]["known"], width: number): PriorModel {
  const key = JSON.stringify([known, width]);
  if (made?.key !== key) made = { key, prior: knownKnees(known, width) };
  return made.prior;
}
