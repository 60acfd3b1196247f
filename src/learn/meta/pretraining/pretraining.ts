/**
 * Pre-training: one encoder and one base learner over many environments. START READING HERE.
 * A round (rounds.ts says who takes part): the round's environments play with the shared policy under their last
 * embeddings; each one's loss goes back through the encoder; the encoder moves by the total; the base learner takes its
 * steps on rows of all environments under the embeddings they have now.
 * Owns: the order of things in a round, and continuing from a checkpoint so exactly that nobody can tell there was a break.
 * Not here: what threads compute (thread-tasks.ts), threads, files and time (the shell's).
 *
 * Every environment of a round is a job of its own and gradients are added in the order of the round, so any number of
 * threads gives the same bytes.
 */

import type { Rng } from "../../../base/index.ts";
import { CodedError, failure, seededRng, unwrap } from "../../../base/index.ts";
import type { EnvConfig } from "../../env/index.ts";
import type { LearnerShape } from "../../rl/index.ts";
import { actionSize, Ddpg } from "../../rl/index.ts";
import type { Kernels, WorkerPool } from "../../tensor/index.ts";
import { decisionLayout } from "../features.ts";
import { MetaLearner } from "../meta-learner.ts";
import type { PretrainedModel } from "../pretrained.ts";
import type { TraitGroup, Traits } from "../trait-reader.ts";
import { assertTraits, TraitReader } from "../trait-reader.ts";
import type { PretrainConfig } from "./config.ts";
import { checkPretrainConfig } from "./config.ts";
import type { Episode } from "./episode.ts";
import { returnOf } from "./episode.ts";
import { Experience } from "./experience.ts";
import type { Visit } from "./play-task.ts";
import type { Round } from "./rounds.ts";
import { RoundPlan } from "./rounds.ts";
import type { Curve, EvaluationRow, PretrainState } from "./saved-state.ts";
import { readPretraining, writePretraining } from "./saved-state.ts";
import type { Crew, EmbedJob, GradientJob, GradientOutcome, GuideRule, Parameters, PlayJob } from "./thread-tasks.ts";
import { EMBED_TASK, GRADIENT_TASK, guideOf, PLAY_TASK } from "./thread-tasks.ts";

/** One environment: a name for people, and what its world is made from. */
export interface PoolEntry {
  readonly name: string;
  readonly world: EnvConfig;
  /** What is known of it, in the order of the pool's groups. */
  readonly traits?: Traits;
  /** By which the training's guide acts there. */
  readonly guide?: Float32Array;
}

export interface PretrainOptions {
  readonly pool: readonly PoolEntry[];
  /** What is known of every environment of the pool, if anything is: its embedding is taught to show it. */
  readonly traits?: readonly TraitGroup[];
  /** What somebody who knows an environment would do there: the shared policy learns it, with the weight that the config says. */
  readonly guide?: GuideRule;
  /** Of observations and actions of all environments; actions from −1 to 1 in every component. */
  readonly shape: Pick<LearnerShape, "obs" | "action">;
  readonly config: PretrainConfig;
  readonly seed: number;
  readonly kernels: Kernels;
  /** Threads, or one in this process, that know `pretrainKinds()`. */
  readonly runner: Pick<WorkerPool, "run">;
  /** Bytes of an earlier `save` of a pre-training with the same options. */
  readonly resumeFrom?: Uint8Array;
}

export class Pretraining {
  readonly #options: PretrainOptions;
  readonly #plan: RoundPlan;
  readonly #crew: Crew;
  readonly #meta: MetaLearner;
  readonly #learner: Ddpg;
  /** Undefined where nothing is known of the environments. */
  readonly #reader: TraitReader | undefined;
  readonly #experiences: readonly Experience[];
  /** One gradient of all parameters per environment of a round, shared with the threads. */
  readonly #gradients: readonly Float32Array[];
  readonly #curves: Curve[] = [];
  readonly #evaluation: EvaluationRow[] = [];
  #round = 0;

  constructor(options: PretrainOptions) {
    const { pool, config, seed, kernels } = options;
    checkPretrainConfig(config, options);
    this.#options = options;
    const { environmentsPerRound, visits, bundle, replaySteps } = config;
    this.#plan = new RoundPlan({ environments: pool.length, environmentsPerRound, visits, seed });
    const shape = { ...options.shape, actorContext: config.meta.embedding, criticContext: 0 };
    const action = actionSize(shape.action);
    const layout = decisionLayout({ obs: shape.obs, action });
    // A pass of training reads no more; what reads whole bundles takes several.
    const rows = Math.max(Math.min(config.readAtMost, bundle), config.newcomer.trajectories);
    const meta = { ...config.meta, layout, rows };
    const { weights, longestGradient, pull } = config;
    const traits = options.traits && { groups: options.traits, ...config.traits };
    this.#crew = { meta, learner: config.learner, shape, weights, longestGradient, pull, traits, seed };
    // Nothing is read here: the threads do that, and only they need the room for it.
    this.#meta = new MetaLearner({ kernels, config: { ...meta, rows: 1, steps: 1 }, seed });
    this.#learner = new Ddpg({ kernels, shape, config: config.learner, seed });
    const { embedding } = meta;
    for (const entry of pool) if (traits) assertTraits(traits.groups, entry.traits ?? new Float32Array(0));
    this.#reader =
      traits && new TraitReader({ kernels, ...traits, contextSize: embedding, rows: environmentsPerRound, seed });
    const arrivals = config.newcomer.trajectories;
    this.#experiences = pool.map(
      () => new Experience({ obs: shape.obs, action, replaySteps, bundle, arrivals, embedding, layout }),
    );
    const count = this.#meta.parameters().length;
    this.#gradients = Array.from(
      { length: Math.min(environmentsPerRound, pool.length) },
      () => new Float32Array(new SharedArrayBuffer(4 * count)),
    );
    if (options.resumeFrom) this.#resume(options.resumeFrom);
  }

  /** Rounds done. */
  get round(): number {
    return this.#round;
  }

  get rounds(): number {
    return this.#plan.total;
  }

  get isDone(): boolean {
    return this.#round >= this.#plan.total;
  }

  /** The round that comes next. */
  get next(): Round {
    return this.#plan.at(this.#round);
  }

  /** How much of the work is done, from 0 to 1, by what rounds cost. */
  get progress(): number {
    return this.#plan.costBefore(this.#round) / this.#plan.costBefore(this.#plan.total);
  }

  get curves(): readonly Curve[] {
    return this.#curves;
  }

  /** Of the environments that have been played in without noise at the end. */
  get evaluation(): readonly EvaluationRow[] {
    return this.#evaluation;
  }

  get embeddings(): readonly Float32Array[] {
    return this.#experiences.map(({ embedding }) => embedding);
  }

  /** One round. After a failure go on from the last save: what was played may have been taken in already. */
  async advance(): Promise<void> {
    if (this.isDone) return;
    const round = this.next;
    const policy = this.#parameters(this.#learner.save());
    switch (round.phase) {
      case "warm-up":
        await this.#gather(round, policy);
        if (this.#round + 1 === this.#plan.firstJoint)
          this.#meta.learnScale(this.#experiences.flatMap(({ bundle }) => bundle));
        break;
      case "joint":
        await this.#joint(round, policy);
        break;
      case "refresh":
        await this.#refresh(round);
        break;
      case "settle":
        this.#learn(this.#options.config.settleSteps);
        break;
      case "evaluation":
        await this.#evaluate(round, policy);
        break;
    }
    this.#round += 1;
  }

  // ── A round's parts ──────────────────────────────────────────────────────────────────────────────────

  async #joint(round: Round, policy: Parameters): Promise<void> {
    const played = await this.#gather(round, policy);
    const parameters = {
      meta: this.#parameters(this.#meta.save()),
      learner: policy,
      reader: this.#reader?.parameters(),
    };
    const found = await Promise.all(
      round.environments.map((environment, slot) =>
        this.#run<GradientOutcome>(GRADIENT_TASK, this.#gradientJob(environment, { ...parameters, slot })),
      ),
    );
    for (const [i, environment] of round.environments.entries()) {
      this.#meta.addGradients({ values: this.#gradients[i] as Float32Array, environments: 1 });
      this.#experiences[environment]?.setEmbedding((found[i] as GradientOutcome).embedding);
    }
    const { gradNorm } = unwrap(this.#meta.step());
    this.#reader?.learn(
      round.environments.map((environment, i) => ({
        batch: this.#traitsOf(environment),
        context: (found[i] as GradientOutcome).embedding,
      })),
    );
    const losses = this.#learn(this.#options.config.learnSteps);
    const loss = mean(found.map((outcome) => outcome.loss));
    const traitLoss = mean(found.map((outcome) => outcome.traitLoss));
    this.#curves.push({ round: this.#round, return: mean(played.map(returnOf)), loss, gradNorm, traitLoss, ...losses });
  }

  /** Episodes under each environment's embedding and one as a newcomer; in the warm-up everybody is one. */
  async #gather({ phase, environments, progress }: Round, learner: Parameters): Promise<readonly Episode[]> {
    const { exploration, episodesPerVisit: episodes, meta } = this.#options.config;
    const noise = exploration.from + (exploration.to - exploration.from) * progress;
    const neutral = new Float32Array(meta.embedding);
    const played = await Promise.all(
      environments.map(async (environment) => {
        const context = this.#experience(environment).embedding;
        const common = { environment, noise, learner };
        const own = phase === "warm-up" ? [] : this.#play({ ...common, episodes, context, purpose: "own" });
        const arrival = this.#play({ ...common, episodes: 1, context: neutral, purpose: "arrival" });
        return { own: await own, arrivals: await arrival };
      }),
    );
    for (const [i, environment] of environments.entries()) {
      const experience = this.#experience(environment);
      for (const episode of played[i]?.own ?? []) experience.insert(episode);
      for (const episode of played[i]?.arrivals ?? []) experience.insert(episode, { isArrival: true });
    }
    return played.flatMap(({ own, arrivals }) => (phase === "warm-up" ? arrivals : own));
  }

  /** Gradient steps on rows of all environments that have played, a few of them in each batch. */
  #learn(steps: number): { readonly criticLoss: number; readonly actorLoss: number } {
    const { learner: config, learnGroups, neutralShare, meta } = this.#options.config;
    const rng = this.#chance("learn");
    const neutral = new Float32Array(meta.embedding);
    const share = config.batch / learnGroups;
    let criticLoss = 0;
    let actorLoss = 0;
    for (let step = 0; step < steps; step++) {
      const groups = Array.from({ length: learnGroups }, () => {
        const environment = rng.int(this.#experiences.length);
        const one = this.#experience(environment);
        const context = rng.next() < neutralShare ? neutral : one.embedding;
        const guide = guideOf(this.#options.guide, this.#guideOf(environment));
        const rows = { replay: one.replay, rows: one.draw(rng, share), context, rewardShift: one.rewardMean };
        return guide ? { ...rows, guide } : rows;
      });
      const found = this.#learner.learnFrom(groups);
      criticLoss += found.criticLoss / steps;
      actorLoss += found.actorLoss / steps;
    }
    return { criticLoss, actorLoss };
  }

  async #refresh({ environments }: Round): Promise<void> {
    const meta = this.#parameters(this.#meta.save());
    const found = await Promise.all(
      environments.map((environment) => {
        const job: EmbedJob = { crew: this.#crew, meta, bundle: this.#experience(environment).bundle };
        return this.#run<Float32Array>(EMBED_TASK, job);
      }),
    );
    for (const [i, environment] of environments.entries())
      this.#experience(environment).setEmbedding(found[i] as Float32Array);
  }

  /** The same world twice, with the environment's embedding and without any. */
  async #evaluate({ environments }: Round, learner: Parameters): Promise<void> {
    const neutral = new Float32Array(this.#options.config.meta.embedding);
    const returnUnder = async (environment: number, context: Float32Array) => {
      const purpose = "evaluation";
      const played = await this.#play({ environment, episodes: 1, context, noise: 0, learner, purpose });
      return mean(played.map(returnOf));
    };
    const rows = environments.map(async (environment) => ({
      environment,
      known: await returnUnder(environment, this.#experience(environment).embedding),
      neutral: await returnUnder(environment, neutral),
    }));
    this.#evaluation.push(...(await Promise.all(rows)));
  }

  // ── Jobs ─────────────────────────────────────────────────────────────────────────────────────────────

  #play(visit: {
    readonly environment: number;
    readonly episodes: number;
    readonly context: Float32Array;
    readonly noise: number;
    readonly learner: Parameters;
    readonly purpose: Visit["purpose"];
  }): Promise<readonly Episode[]> {
    const { learner, ...rest } = visit;
    const { seed, pool } = this.#options;
    const { world } = pool[visit.environment] as PoolEntry;
    const job: PlayJob = { crew: this.#crew, learner, visit: { ...rest, seed, world, round: this.#round } };
    return this.#run(PLAY_TASK, job);
  }

  #gradientJob(environment: number, { meta, learner, reader, slot }: GradientParameters): GradientJob {
    const { config } = this.#options;
    const one = this.#experience(environment);
    const rng = this.#chance("loss").fork(environment);
    const rows = one.draw(rng, config.lossBatches * config.learner.batch);
    // The best trajectories show what a good policy does, and an encoder that saw nothing else would read the policy off
    // them. A newcomer's are not good, so what an action brought has to be read as well.
    const isNewcomer = rng.next() < config.newcomer.share;
    return {
      crew: this.#crew,
      meta,
      learner,
      bundle: isNewcomer ? one.drawArrivals(rng) : one.drawBest(rng, config.readAtMost),
      traits: reader && { shares: this.#traitsOf(environment), reader },
      rows: one.replay.extract(rows),
      rewardShift: one.rewardMean,
      guide: this.#jobGuide(environment),
      gradient: this.#gradients[slot] as Float32Array,
    };
  }

  async #run<R>(kind: string, config: unknown): Promise<R> {
    return (await this.#options.runner.run({ kind, config })) as R;
  }

  #parameters(saved: Uint8Array): Parameters {
    const bytes = new Uint8Array(new SharedArrayBuffer(saved.length));
    bytes.set(saved);
    return { version: this.#round, bytes };
  }

  #chance(purpose: string): Rng {
    return seededRng(this.#options.seed).fork("pretraining").fork(purpose).fork(this.#round);
  }

  #traitsOf(environment: number): Traits {
    return this.#options.pool[environment]?.traits ?? new Float32Array(0);
  }

  #guideOf(environment: number) {
    return { parameters: this.#options.pool[environment]?.guide, weight: this.#options.config.guide.weight };
  }

  #jobGuide(environment: number): GradientJob["guide"] {
    const { parameters, weight } = this.#guideOf(environment);
    return parameters && { parameters, weight };
  }

  #experience(environment: number): Experience {
    return this.#experiences[environment] as Experience;
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  /** Everything it takes to continue exactly from here, on any number of threads. Between rounds only. */
  save(): Uint8Array {
    return writePretraining(this.#state(), {
      meta: this.#meta.save({ resumable: true }),
      learner: this.#learner.save({ resumable: true }),
      traits: this.#reader?.state(),
      round: this.#round,
    });
  }

  /** What it has come to, for whoever adapts: an encoder to freeze, a policy to begin with, the pool to compare with. */
  model(): PretrainedModel {
    const { pool, config } = this.#options;
    const { meta, learner, shape } = this.#crew;
    return {
      meta,
      learner,
      shape,
      bundle: config.bundle,
      encoder: this.#meta.save(),
      policy: this.#learner.save(),
      pool: pool.map(({ name }, i) => ({ name, embedding: this.#experience(i).embedding })),
    };
  }

  #state(): PretrainState {
    const { pool, config, seed } = this.#options;
    const names = pool.map(({ name }) => name);
    return {
      identity: { seed, names, config: JSON.stringify(config), shape: JSON.stringify(this.#crew.shape) },
      experiences: this.#experiences,
      curves: this.#curves,
      evaluation: this.#evaluation,
    };
  }

  #resume(bytes: Uint8Array): void {
    const found = unwrap(readPretraining(bytes, this.#state()));
    unwrap(this.#meta.load(found.meta));
    unwrap(this.#learner.load(found.learner));
    if (found.traits) this.#reader?.restore(found.traits);
    for (const [i, blocks] of found.experiences.entries()) this.#experiences[i]?.restore(blocks);
    this.#curves.push(...found.curves);
    this.#evaluation.push(...found.evaluation);
    this.#round = found.round;
    if (this.#round > this.#plan.total)
      throw new CodedError(
        failure("checkpoint.mismatch", `the checkpoint is in round ${this.#round} of ${this.#plan.total}; start anew`),
      );
  }

  dispose(): void {
    this.#meta.dispose();
    this.#learner.dispose();
    this.#reader?.dispose();
  }
}

interface GradientParameters {
  readonly meta: Parameters;
  readonly learner: Parameters;
  readonly reader: Float32Array | undefined;
  readonly slot: number;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
