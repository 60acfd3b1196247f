/**
 * The evaluation protocol: the deterministic policy, a fresh environment, a stated number of whole episodes, and
 * seeds of their own. It never touches what training draws from, so evaluating changes nothing.
 */

import { seededRng, unwrap } from "../../base/index.ts";
import type { EnvConfig } from "../env/index.ts";
import { EpisodeStream } from "./episodes.ts";
import type { Learner } from "./learner.ts";
import { clipAction } from "./learner.ts";

export interface EvaluationOptions {
  readonly envId: string;
  readonly envConfig?: EnvConfig;
  readonly episodes: number;
  /** Episodes of equal seed start alike, whoever plays them. */
  readonly seed: number;
  /** For learners with an embedding: what they see besides the observation. */
  readonly actorContext?: ArrayLike<number>;
}

export interface Evaluation {
  /** Steps the learner had observed. */
  readonly steps: number;
  readonly returns: readonly number[];
  readonly lengths: readonly number[];
  readonly mean: number;
  /** Standard deviation over the episodes. */
  readonly deviation: number;
}

export function evaluate(learner: Learner, options: EvaluationOptions): Evaluation {
  const { envId, envConfig, episodes, seed, actorContext } = options;
  // The label keeps these episodes apart from training's even when the two seeds are equal.
  const seeds = seededRng(seed).fork("evaluation");
  const stream = new EpisodeStream({ envId, seeds, ...(envConfig === undefined ? {} : { envConfig }) });
  const acting = { explore: false, ...(actorContext === undefined ? {} : { actorContext }) };
  const returns: number[] = [];
  const lengths: number[] = [];
  for (let i = 0; i < episodes; i++) {
    if (i > 0) stream.next();
    while (stream.end === "no") {
      const { action } = unwrap(learner.act(stream.obs, acting));
      stream.step(clipAction(learner.shape.action, action));
    }
    returns.push(stream.return);
    lengths.push(stream.length);
  }
  stream.close();
  return summarise(learner.steps, returns, lengths);
}

export function summarise(steps: number, returns: readonly number[], lengths: readonly number[]): Evaluation {
  const mean = returns.reduce((a, b) => a + b, 0) / returns.length;
  const variance = returns.reduce((a, b) => a + (b - mean) ** 2, 0) / returns.length;
  return { steps, returns, lengths, mean, deviation: Math.sqrt(variance) };
}
