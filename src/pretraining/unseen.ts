/**
 * How well a pre-trained encoder tells apart applications that it has never seen.
 * Owns: gathering the first trajectories of unseen applications with the shared policy, their embeddings, the ranking by
 * what is known about them, and what that policy earns there. Not here: pre-training (learn/meta), the applications
 * (pool-members.ts).
 */
import { unwrap } from "../base/index.ts";
import type { ActionKind } from "../control/tasks/pods/index.ts";
import type { PretrainedModel, Ranking, Trajectory } from "../learn/meta/index.ts";
import { MetaLearner, playTrajectories, rankByCosine } from "../learn/meta/index.ts";
import { Ddpg } from "../learn/rl/index.ts";
import type { Kernels } from "../learn/tensor/index.ts";
import type { MemberChoice, PoolMember, Rung } from "./pool-members.ts";
import { drawMember, poolWorld } from "./pool-members.ts";

export interface UnseenOptions {
  readonly kernels: Kernels;
  readonly model: PretrainedModel;
  /** False: networks of the model's sizes as they are before any training, to compare with. */
  readonly isTrained: boolean;
  readonly seed: number;
  readonly members: number;
  /** Trajectories of each, from other hours of its week. */
  readonly trajectories: number;
  /** Deviation of the noise on actions: what does not vary tells nothing about what depends on it. */
  readonly noise: number;
  readonly actions?: ActionKind;
  /** The fluid one where nothing is said. */
  readonly rung?: Rung;
  onMember?(done: number): void;
}

export interface UnseenRanking {
  /** Pairs with one sensitivity and one load shape against all others. */
  readonly both: Ranking;
  readonly sensitivity: Ranking;
  readonly shape: Ranking;
}

export interface UnseenMember extends PoolMember {
  readonly name: string;
  readonly vector: Float32Array;
}

export function embedUnseen(options: UnseenOptions): readonly UnseenMember[] {
  const { seed, members } = options;
  const visitor = new Visitor(options);
  const gathered = Array.from({ length: members }, (_, index) => {
    const bundle = visitor.firstTrajectories(index);
    options.onMember?.(index + 1);
    return { member: visitor.member(index), bundle, name: `unseen-${seed}-${index}` };
  });
  // Networks that were never trained have no scale either: without one they would only be told the units apart.
  if (!options.isTrained) visitor.learnScale(gathered.flatMap(({ bundle }) => bundle));
  const embedded = gathered.map(({ member, bundle, name }) => ({ ...member, name, vector: visitor.embed(bundle) }));
  visitor.dispose();
  return embedded;
}

/** What an unseen application earns in an episode, by the shared policy alone: nothing is fine-tuned. */
export interface UnseenReturn {
  readonly member: UnseenMember;
  /** Under the embedding of its first trajectories. */
  readonly embedded: number;
  /** In the same hours, under the embedding of nobody. */
  readonly neutral: number;
  /** In the same hours, under that of another unseen application: worth the same where an embedding says nothing. */
  readonly stranger: number;
}

export function earnUnseen(options: UnseenOptions & { readonly episodes: number }): readonly UnseenReturn[] {
  const { seed, members, trajectories, episodes } = options;
  const visitor = new Visitor(options);
  const vectors = Array.from({ length: members }, (_, index) => visitor.embed(visitor.firstTrajectories(index)));
  const earned = vectors.map((vector, index) => {
    const stranger = vectors[(index + Math.ceil(members / 2)) % members] as Float32Array;
    const played = { from: trajectories, count: episodes, noise: 0 };
    const earns = (context: Float32Array) =>
      mean(visitor.play(index, { ...played, context }).map(({ reward }) => reward));
    const result = {
      member: { ...visitor.member(index), name: `unseen-${seed}-${index}`, vector },
      embedded: earns(vector),
      neutral: earns(visitor.neutral),
      stranger: earns(stranger),
    };
    options.onMember?.(index + 1);
    return result;
  });
  visitor.dispose();
  return earned;
}

interface Stay {
  /** The first of its episodes, each from other hours of the application's week. */
  readonly from: number;
  readonly count: number;
  readonly context: Float32Array;
  readonly noise: number;
}

/** A pre-trained model among applications that it has never seen. */
class Visitor {
  readonly neutral: Float32Array;
  readonly #options: UnseenOptions;
  readonly #meta: MetaLearner;
  readonly #policy: Ddpg;

  constructor(options: UnseenOptions) {
    const { kernels, model, isTrained, seed } = options;
    const { shape, learner } = model;
    this.#options = options;
    this.neutral = new Float32Array(model.meta.embedding);
    this.#meta = new MetaLearner({ kernels, config: { ...model.meta, rows: 1 }, seed, trainable: false });
    this.#policy = new Ddpg({ kernels, shape, config: learner, seed });
    if (!isTrained) return;
    unwrap(this.#meta.load(model.encoder));
    unwrap(this.#policy.load(model.policy));
  }

  member(index: number): PoolMember {
    return drawMember(this.#choice(index));
  }

  /** As a newcomer has them: by the shared policy under no embedding. */
  firstTrajectories(index: number): readonly Trajectory[] {
    const { trajectories: count, noise } = this.#options;
    return this.play(index, { from: 0, count, context: this.neutral, noise });
  }

  play(index: number, { from, count, context, noise }: Stay): readonly Trajectory[] {
    const { seed, model } = this.#options;
    const { layout } = model.meta;
    return Array.from({ length: count }, (_, k) => ({
      seed,
      environment: index,
      world: { ...this.#choice(index) },
      round: from + k,
      episodes: 1,
      context,
      noise,
      purpose: "evaluation" as const,
    })).flatMap((visit) => playTrajectories(this.#policy, visit, { makeWorld: poolWorld, layout }));
  }

  learnScale(trajectories: readonly Trajectory[]): void {
    this.#meta.learnScale(trajectories);
  }

  embed(bundle: readonly Trajectory[]): Float32Array {
    return this.#meta.embed(this.#meta.summarise(bundle));
  }

  dispose(): void {
    this.#meta.dispose();
    this.#policy.dispose();
  }

  #choice(index: number): MemberChoice {
    const { seed, actions, rung } = this.#options;
    return { seed, part: "unseen", index, ...(actions ? { actions } : {}), ...(rung ? { rung } : {}) };
  }
}

export function rankUnseen(members: readonly UnseenMember[]): UnseenRanking {
  // Cosines are of directions from the middle of the pool: what all embeddings have in common tells nobody apart.
  const width = members[0]?.vector.length ?? 0;
  const middle = Array.from({ length: width }, (_, k) => mean(members.map(({ vector }) => vector[k] ?? 0)));
  const centred = members.map((member) => ({
    ...member,
    vector: member.vector.map((value, k) => value - (middle[k] ?? 0)),
  }));
  const by = (classOf: (member: PoolMember) => string) =>
    rankByCosine(centred.map((member) => ({ vector: member.vector, class: classOf(member) })));
  return {
    both: by(({ sensitivity, shape }) => `${sensitivity} ${shape}`),
    sensitivity: by(({ sensitivity }) => sensitivity),
    shape: by(({ shape }) => shape),
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
