/**
 * The off-policy estimate that the gate to ONLINE rests on.
 * Owns: asking learn/rl for it and saying it in the lifecycle's words. Not here: the estimates themselves (learn/rl).
 */
import { ok } from "../../base/index.ts";
import type { OffPolicyConfig } from "../../learn/rl/index.ts";
import { estimateReturn, policyOf } from "../../learn/rl/index.ts";
import type { Estimator } from "./agent-options.ts";

/** Plain data, so that a thread can be told. */
export interface EstimatorOptions {
  readonly seed: number;
  readonly config?: Partial<OffPolicyConfig>;
}

export function offPolicyEstimator({ seed, config }: EstimatorOptions): Estimator {
  return (learner, episodes) => {
    const estimated = estimateReturn({
      episodes,
      policy: policyOf(learner),
      shape: learner.shape,
      seed,
      ...(config ? { config } : {}),
    });
    if (!estimated.ok) return estimated;
    const { believed, lower, gain, fqe, dr } = estimated.value;
    const { mean, hi } = believed === "doubly-robust" ? dr : fqe;
    return ok({
      mean,
      lower,
      upper: hi,
      gainMean: gain.mean,
      gainLower: gain.lo,
      method: believed,
      episodes: episodes.length,
    });
  };
}
