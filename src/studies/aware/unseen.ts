/**
 * How well a pre-trained encoder tells apart applications that it has never seen.
 * Owns: gathering the first trajectories of unseen applications with the shared policy, their embeddings, the ranking by
 * what is known about them. Not here: pre-training (learn/meta), the applications (pool-members.ts).
 */
import { unwrap } from "../../base/index.ts";
import type { ActionKind } from "../../control/tasks/index.ts";
import type { PretrainedModel, Ranking } from "../../learn/meta/index.ts";
import { MetaLearner, playTrajectories, rankByCosine } from "../../learn/meta/index.ts";
import { Ddpg } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
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
  const { kernels, model, isTrained, seed, members, noise, actions, rung } = options;
  const { shape, learner } = model;
  const { layout, embedding } = model.meta;
  const meta = new MetaLearner({ kernels, config: { ...model.meta, rows: 1 }, seed, trainable: false });
  const policy = new Ddpg({ kernels, shape, config: learner, seed });
  if (isTrained) {
    unwrap(meta.load(model.encoder));
    unwrap(policy.load(model.policy));
  }
  const context = new Float32Array(embedding);
  const gathered = Array.from({ length: members }, (_, index) => {
    const choice: MemberChoice = {
      seed,
      part: "unseen",
      index,
      ...(actions ? { actions } : {}),
      ...(rung ? { rung } : {}),
    };
    const world = { ...choice };
    const visits = Array.from({ length: options.trajectories }, (_unused, round) => ({
      seed,
      environment: index,
      world,
      round,
      episodes: 1,
      context,
      noise,
      purpose: "evaluation" as const,
    }));
    const bundle = visits.flatMap((visit) => playTrajectories(policy, visit, { makeWorld: poolWorld, layout }));
    options.onMember?.(index + 1);
    return { member: drawMember(choice), bundle, name: `unseen-${seed}-${index}` };
  });
  // Networks that were never trained have no scale either: without one they would only be told the units apart.
  if (!isTrained) meta.learnScale(gathered.flatMap(({ bundle }) => bundle));
  const embedded = gathered.map(({ member, bundle, name }) => ({
    ...member,
    name,
    vector: meta.embed(meta.summarise(bundle)),
  }));
  meta.dispose();
  policy.dispose();
  return embedded;
}

export function rankUnseen(members: readonly UnseenMember[]): UnseenRanking {
  // Cosines are of directions from the middle of the pool: what all embeddings have in common tells nobody apart.
  const width = members[0]?.vector.length ?? 0;
  const middle = Array.from({ length: width }, (_, k) => meanOf(members.map(({ vector }) => vector[k] ?? 0)));
  const centred = members.map((member) => ({ ...member, vector: member.vector.map((value, k) => value - middle[k]!) }));
  const by = (classOf: (member: PoolMember) => string) =>
    rankByCosine(centred.map((member) => ({ vector: member.vector, class: classOf(member) })));
  return {
    both: by(({ sensitivity, shape }) => `${sensitivity} ${shape}`),
    sensitivity: by(({ sensitivity }) => sensitivity),
    shape: by(({ shape }) => shape),
  };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
