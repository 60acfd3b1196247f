/**
 * What threads are asked for in pre-training: to play, to take one environment's loss back through the encoder, to
 * compute embeddings. A thread keeps its networks between jobs only to save time; every job says which parameters it is
 * for, and a result depends on the job alone.
 */

import { unwrap } from "../../../base/index.ts";
import type { DdpgConfig, Guide, LearnerShape, NumberBlock } from "../../rl/index.ts";
import { actionSize, Ddpg, Replay } from "../../rl/index.ts";
import type { JobKinds, Kernels, TaskContext } from "../../tensor/index.ts";
import type { Conditioned, ContextLoss } from "../contextual-learner.ts";
import { cutTo, jointPass } from "../contextual-learner.ts";
import type { MetaConfig } from "../meta-learner.ts";
import { MetaLearner } from "../meta-learner.ts";
import type { TraitGroup, Traits } from "../trait-reader.ts";
import { TraitReader } from "../trait-reader.ts";
import type { Trajectory } from "../trajectory.ts";
import type { PretrainConfig } from "./config.ts";
import type { Episode } from "./episode.ts";
import type { MakeWorld, Visit } from "./play-task.ts";
import { play } from "./play-task.ts";
import type { RowBatch } from "./shared-ddpg.ts";
import { sharedDdpg } from "./shared-ddpg.ts";

export const PLAY_TASK = "meta play";
export const GRADIENT_TASK = "meta gradient";
export const EMBED_TASK = "meta embed";

/** What the networks of a training are built from: the same for all its jobs. */
export interface Crew {
  readonly meta: MetaConfig;
  readonly learner: DdpgConfig;
  readonly shape: LearnerShape;
  readonly weights: PretrainConfig["weights"];
  readonly longestGradient: number;
  readonly pull: number;
  /** What is known of every environment, and how much of its loss reaches the encoder; undefined where nothing is known. */
  readonly traits: { readonly groups: readonly TraitGroup[]; readonly weight: number; readonly lr: number } | undefined;
  readonly seed: number;
}

/** Parameters in memory that all threads share, under a number that changes with them. */
export interface Parameters {
  readonly version: number;
  readonly bytes: Uint8Array;
}

export interface PlayJob {
  readonly crew: Crew;
  readonly learner: Parameters;
  readonly visit: Visit;
}

export interface GradientJob {
  readonly crew: Crew;
  readonly meta: Parameters;
  readonly learner: Parameters;
  readonly bundle: readonly Trajectory[];
  /** Rows of the environment's replay, and what is taken off their rewards. */
  readonly rows: { readonly [name: string]: NumberBlock };
  readonly rewardShift: number;
  /** Of this environment, and the parameters of what reads them. */
  readonly traits: { readonly shares: Traits; readonly reader: Float32Array } | undefined;
  /** Of this environment's guide, and its weight; undefined where there is none. */
  readonly guide: { readonly parameters: Float32Array; readonly weight: number } | undefined;
  /** Where the gradient of all parameters goes. */
  readonly gradient: Float32Array;
}

export interface GradientOutcome {
  readonly embedding: Float32Array;
  /** The base learner's. */
  readonly loss: number;
  /** Of the traits that were read off the embedding; 0 where there are none. */
  readonly traitLoss: number;
}

export interface EmbedJob {
  readonly crew: Crew;
  readonly meta: Parameters;
  readonly bundle: readonly Trajectory[];
}

/** What somebody who knows an environment does there: by the parameters that it has, from −1 to 1 in every component. */
export type GuideRule = (parameters: Float32Array, obs: ArrayLike<number>) => ArrayLike<number>;

export function guideOf(
  rule: GuideRule | undefined,
  given: { readonly parameters: Float32Array | undefined; readonly weight: number },
): Guide | undefined {
  const { parameters, weight } = given;
  if (rule === undefined || parameters === undefined || weight === 0) return undefined;
  return { weight, actionAt: (obs) => rule(parameters, obs) };
}

/** The registry for a worker's entry and its caller; the guide is the one that the training has. */
export function pretrainKinds(makeWorld: MakeWorld, guide?: GuideRule): JobKinds {
  let kept: Copies | undefined;
  const copies = (crew: Crew, { kernels }: TaskContext): Copies => {
    const name = JSON.stringify(crew);
    if (kept?.name === name) return kept;
    kept?.dispose();
    kept = new Copies(crew, name, kernels);
    return kept;
  };
  const tasks = {
    [PLAY_TASK](config: unknown, context: TaskContext): readonly Episode[] {
      const { crew, learner, visit } = config as PlayJob;
      return play(copies(crew, context).learner(learner), visit, makeWorld);
    },
    [GRADIENT_TASK](config: unknown, context: TaskContext): GradientOutcome {
      const job = config as GradientJob;
      return copies(job.crew, context).gradient(job, job.guide && guideOf(guide, job.guide));
    },
    [EMBED_TASK](config: unknown, context: TaskContext): Float32Array {
      const { crew, meta, bundle } = config as EmbedJob;
      const encoder = copies(crew, context).meta(meta);
      return encoder.embed(encoder.summarise(bundle));
    },
  };
  return { tasks, models: {} };
}

/** A thread's own networks. */
class Copies {
  readonly name: string;
  readonly #crew: Crew;
  readonly #kernels: Kernels;
  readonly #learner: Ddpg;
  /** Made when first needed: a thread that only plays has no use for it. */
  #meta: MetaLearner | undefined;
  #reader: TraitReader | undefined;
  #versions = { meta: -1, learner: -1 };

  constructor(crew: Crew, name: string, kernels: Kernels) {
    const { shape, learner: config, seed } = crew;
    this.name = name;
    this.#crew = crew;
    this.#kernels = kernels;
    this.#learner = new Ddpg({ kernels, shape, config, seed });
  }

  learner({ version, bytes }: Parameters): Ddpg {
    // A copy, because text is not decoded out of shared memory.
    if (this.#versions.learner !== version) unwrap(this.#learner.load(bytes.slice()));
    this.#versions.learner = version;
    return this.#learner;
  }

  meta({ version, bytes }: Parameters): MetaLearner {
    const { meta: config, seed } = this.#crew;
    this.#meta ??= new MetaLearner({ kernels: this.#kernels, config, seed });
    if (this.#versions.meta !== version) unwrap(this.#meta.load(bytes.slice()));
    this.#versions.meta = version;
    return this.#meta;
  }

  gradient(job: GradientJob, guide: Guide | undefined): GradientOutcome {
    const meta = this.meta(job.meta);
    const ddpg = this.learner(job.learner);
    const { shape, weights, longestGradient, pull } = this.#crew;
    const count = job.rows.rewards?.length ?? 0;
    const widths = { obs: shape.obs, action: actionSize(shape.action), actorContext: 0, criticContext: 0 };
    const replay = new Replay({ capacity: count, widths });
    replay.restore(job.rows);
    const rows = Int32Array.from({ length: count }, (_, i) => i);
    const batch = { replay, rows, rewardShift: job.rewardShift, ...(guide ? { guide } : {}) };
    const base = sharedDdpg(ddpg, weights);
    let traitLoss = 0;
    const learner = {
      contextLosses: (environments: readonly Conditioned<RowBatch>[]) =>
        base.contextLosses(environments).map(({ loss, gradient }, i) => {
          const context = environments[i]?.context ?? [];
          const read = job.traits && this.#traitLoss(job.traits, context);
          traitLoss = read?.loss ?? 0;
          const total = cutTo(longestGradient, gradient).map(
            (value, k) => value + pull * context[k]! + (read?.gradient[k] ?? 0),
          );
          return { loss, gradient: total };
        }),
    };
    const { embeddings, losses } = jointPass({ meta, learner }, [{ bundle: job.bundle, batch }]);
    job.gradient.set(meta.takeGradients().values);
    return { embedding: embeddings[0] as Float32Array, loss: losses[0] ?? Number.NaN, traitLoss };
  }

  #traitLoss({ shares, reader }: NonNullable<GradientJob["traits"]>, context: ArrayLike<number>): ContextLoss {
    const { traits, shape, seed } = this.#crew;
    const { groups = [], weight = 0, lr = 0 } = traits ?? {};
    const contextSize = shape.actorContext;
    this.#reader ??= new TraitReader({ kernels: this.#kernels, groups, contextSize, rows: 1, lr, seed });
    this.#reader.setParameters(reader);
    const [found] = this.#reader.contextLosses([{ batch: shares, context }]);
    return {
      loss: found?.loss ?? 0,
      gradient: (found?.gradient ?? new Float32Array(contextSize)).map((g) => weight * g),
    };
  }

  dispose(): void {
    this.#learner.dispose();
    this.#meta?.dispose();
    this.#reader?.dispose();
  }
}
