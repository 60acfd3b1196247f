/**
 * Ways to meet a workload that was never seen: what each brings along, and what its learning costs.
 * Owns: the shape of such a way, and the baselines: FIRM without transfer, with it (TL), and with more features (TL+).
 * Not here: playing and measuring them (adaptation.ts).
 *
 * These three are as their authors made them: a base learner that learns by trying from its first step on, whose actions
 * are limits, with nothing around it. They differ in what it begins with and in what it sees.
 */
import type { FeatureSet } from "../../control/tasks/pods/index.ts";
import { actionOrder, observationSpace } from "../../control/tasks/pods/index.ts";
import type { PoolKind } from "../../pretraining/index.ts";
import { openWorld, type WorldChoice } from "../../pretraining/index.ts";
import type { AgentDriver } from "./agents.ts";
import type { AgentConfig } from "./config.ts";
import { type EpisodeCount, play } from "./life.ts";
import { type DriverParts, everLearning, type Form, learningDriver, published } from "./methods.ts";

/** Where a method may get ready, before any unseen workload is met. */
export interface Ground {
  /** A workload of a known application. */
  readonly source: DriverParts;
  /** Whose known applications may have been trained on. */
  readonly pool: PoolKind;
  readonly rung: WorldChoice["rung"];
  /** Episodes of training on the source. */
  readonly episodes: number;
  readonly count: EpisodeCount;
}

export interface Adapting {
  /** Whether it explores and learns, or acts as it is. */
  readonly learns: boolean;
  /** From a driver of the same method, instead of what the method begins with. */
  readonly policy?: Uint8Array;
}

/**
 * Multiply-adds, which are the same on every machine: what stands for CPU cycles in a table. `coxswain bench autoscale`
 * measures the time beside them: TL+'s update took 1.46 times TL's where 1.31 is counted, so wide inputs are flattered.
 */
export interface LearningWork {
  readonly perUpdate: number;
  /** Of whatever is done besides in an episode of learning: forecasts, embeddings. */
  readonly perEpisode: number;
}

export interface Prepared {
  readonly work: LearningWork;
  driver(parts: DriverParts, adapting: Adapting): AgentDriver;
}

export interface AdaptationMethod {
  readonly id: string;
  readonly title: string;
  /** Whether it brings something along; if not, there is nothing to try without learning. */
  readonly isPrepared: boolean;
  /** Whether getting ready plays the ground's episodes. */
  readonly trainsOnSource: boolean;
  prepare(ground: Ground): Prepared | Promise<Prepared>;
}

/** Networks made of chance, in a workload of its own. */
export const firm: AdaptationMethod = {
  id: "firm",
  title: "FIRM without transfer",
  isPrepared: false,
  trainsOnSource: false,
  prepare: ({ source }) => baseLearner(source, { features: "extended", form: published }),
};

/** All networks of a policy that was trained on a known workload, the critics' too. */
export const transfer: AdaptationMethod = {
  id: "tl",
  title: "TL",
  isPrepared: true,
  trainsOnSource: true,
  prepare: (ground) => transferred(ground, { features: "extended", form: published }),
};

/** The same, where the state also has the forecast of the load and the table of what allocations brought. */
export const transferPlus: AdaptationMethod = {
  id: "tl-plus",
  title: "TL+",
  isPrepared: true,
  trainsOnSource: true,
  prepare: (ground) => transferred(ground, { features: "augmented", form: published }),
};

interface Beginning {
  readonly features: FeatureSet;
  readonly form: Form;
  readonly policy?: Uint8Array;
}

function transferred({ source, rung, episodes, count }: Ground, beginning: Beginning): Prepared {
  const teacher = baseLearner(source, beginning).driver(source, { learns: true });
  const { setting } = source;
  const world = openWorld(setting.scene, { seed: setting.worldSeed, rung });
  play({ setting, world, driver: teacher, episodes, count });
  const policy = teacher.policy();
  teacher.dispose();
  return baseLearner(source, { ...beginning, policy });
}

function baseLearner({ agent, setting }: DriverParts, { features, form, policy: begun }: Beginning): Prepared {
  return {
    work: {
      perUpdate: updateWork(agent, features),
      perEpisode: features === "augmented" ? setting.task.episodeSteps * FORECAST_WORK : 0,
    },
    driver(parts, { learns, policy = begun }) {
      const task = { ...parts.setting.task, features };
      return learningDriver(everLearning(form), {
        ...parts,
        setting: { ...parts.setting, task },
        agent: learns ? (policy ? practised(parts.agent) : parts.agent) : still(parts.agent),
        ...(policy ? { policy } : {}),
      });
    },
  };
}

/**
 * A policy that was trained tries out as much as it did when its training ended. With as much as at a beginning, six
 * workloads of tuning seeds earned 124.2 and not 126.5 an episode under TL, with 4,815 violations and not 2,923.
 */
export const practised = (agent: AgentConfig): AgentConfig => ({
  ...agent,
  settings: { ...agent.settings, fade: { ...agent.settings.fade, episodes: 0 } },
});

/** Nothing is tried out and nothing learned. */
export const still = (agent: AgentConfig): AgentConfig => ({
  ...agent,
  updatesPerStep: 0,
  settings: { ...agent.settings, noise: { kind: "none" } },
});

/** A step's share of a fit (240 rows, 8 and then 5 unknowns, every 20 steps), and a forecast over the same rows. */
const FORECAST_WORK = (240 * (8 * 8 + 5 * 5)) / 20 + 240 * 5;

/**
 * Passes through the networks in one update, for each row of the batch. A pass forward is 1, one backward 2, or 1 where
 * only the input's gradient is wanted. Actor: its slow copy, itself forward and backward. Critics, of which there are
 * two: the slow copies, themselves forward and backward; then one forward and back to the action for the actor.
 */
const PASSES = { actor: 1 + 1 + 2, critic: 2 * (1 + 1 + 2) + 1 + 1 };

export interface Networks {
  readonly learner: Pick<AgentConfig["learner"], "hidden" | "batch">;
}

export function updateWork({ learner }: Networks, features: FeatureSet, context = 0): number {
  const seen = observationSpace({ features }).size + context;
  const actions = actionOrder.length;
  const actor = weightsOf([seen, ...learner.hidden, actions]);
  const critic = weightsOf([seen + actions, ...learner.hidden, 1]);
  return learner.batch * (PASSES.actor * actor + PASSES.critic * critic);
}

const weightsOf = (widths: readonly number[]): number =>
  widths.slice(1).reduce((sum, width, i) => sum + width * (widths[i] ?? 0), 0);
