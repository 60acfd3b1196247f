/**
 * Whatever is conditioned on an embedding, as the meta learner sees it, and the step that trains both.
 * Owns: the port that base learners of any task implement, one round of joint training.
 * Not here: base learners (learn/rl has the reinforcement learners), where batches come from, threads (pretraining/).
 *
 * A batch is whatever the learner learns from: rows of a replay buffer, samples with labels. Each belongs to one
 * environment and is read under that environment's context, the embedding of its own trajectories or samples.
 */

import type { Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { MetaLearner, MetaStep } from "./meta-learner.ts";
import type { Trajectory } from "./trajectory.ts";

export interface Conditioned<B> {
  readonly batch: B;
  readonly context: ArrayLike<number>;
}

export interface ContextLoss {
  /** The learner's loss on the batch. */
  readonly loss: number;
  /** Of that loss with respect to the context. */
  readonly gradient: Float32Array;
}

export interface ContextualLearner<B> {
  readonly contextSize: number;
  /** Each batch's loss under its context and what the context could do about it. Nothing moves. */
  contextLosses(environments: readonly Conditioned<B>[]): readonly ContextLoss[];
  /** One step of the learner's own parameters on all batches together. */
  learn(environments: readonly Conditioned<B>[]): void;
}

/** One environment's part in a round. */
export interface JointTask<B> {
  /** What the embedding is computed from. */
  readonly bundle: readonly Trajectory[];
  /** What the loss is computed on. */
  readonly batch: B;
}

export interface JointPass {
  readonly embeddings: readonly Float32Array[];
  readonly losses: readonly number[];
}

/**
 * Embeddings of all environments, the base learner's loss under each, and the loss's way back into the encoder, where it
 * is added to what other environments left there. The encoder moves with `meta.step()`, on the total.
 */
export function jointPass<B>(
  { meta, learner }: { readonly meta: MetaLearner; readonly learner: Pick<ContextualLearner<B>, "contextLosses"> },
  tasks: readonly JointTask<B>[],
): JointPass {
  const embeddings = meta.forward(tasks.map(({ bundle }) => bundle));
  const found = learner.contextLosses(conditioned(tasks, embeddings));
  meta.backward(found.map(({ gradient }) => gradient));
  return { embeddings, losses: found.map(({ loss }) => loss) };
}

/**
 * One round on one thread: both learners move by the gradient of one and the same total loss, each with its own
 * optimiser. A step that the meta learner refuses is not taken by the base learner either.
 */
export function jointStep<B>(
  learners: { readonly meta: MetaLearner; readonly learner: ContextualLearner<B> },
  tasks: readonly JointTask<B>[],
): Result<JointPass & MetaStep> {
  const pass = jointPass(learners, tasks);
  const stepped = learners.meta.step();
  if (!stepped.ok) return stepped;
  learners.learner.learn(conditioned(tasks, pass.embeddings));
  return ok({ ...pass, ...stepped.value });
}

/** A vector no longer than this, in its own direction. */
export function cutTo(longest: number, vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length > longest ? vector.map((value) => (value * longest) / length) : vector;
}

function conditioned<B>(
  tasks: readonly JointTask<B>[],
  embeddings: readonly Float32Array[],
): readonly Conditioned<B>[] {
  return tasks.map(({ batch }, i) => ({ batch, context: embeddings[i] as Float32Array }));
}
