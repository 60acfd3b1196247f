/**
 * DDPG's settings: the paper's values as defaults, and what turns it into TD3.
 * Not here: what they do (ddpg.ts).
 */

import type { NoiseConfig } from "./noise.ts";
import type { PriorityConfig } from "./replay.ts";

export interface DdpgConfig {
  /** Widths of the hidden layers, of actor and critics alike. */
  readonly hidden: readonly number[];
  readonly actorLr: number;
  readonly criticLr: number;
  /** Discount per step. */
  readonly gamma: number;
  /** How far the targets move towards the networks in each update. */
  readonly tau: number;
  /** Transitions per gradient step. */
  readonly batch: number;
  /** Transitions kept; the oldest make room. */
  readonly bufferSize: number;
  /** Steps of random actions before the policy acts and anything is learned. */
  readonly learningStarts: number;
  /**
   * How those are drawn. "uniform": anew at every step, over the whole range. "noise": the exploration noise alone, as
   * if the policy said 0; for tasks where independent pushes cancel out and only correlated ones lead anywhere.
   */
  readonly warmup: "uniform" | "noise";
  /** Environment steps between updates. */
  readonly trainEvery: number;
  /** Gradient steps per update. */
  readonly gradientSteps: number;
  /** Exploration, in the policy's scale of [−1, 1]. */
  readonly noise: NoiseConfig;
  /** TD3: two critics, and the smaller estimate as the target. */
  readonly twinCritics: boolean;
  /** TD3: clipped normal noise on the target's action; sigma 0 switches it off. */
  readonly targetNoise: { readonly sigma: number; readonly clip: number };
  /** TD3: critic steps per step of the actor and the targets. */
  readonly policyDelay: number;
  /** Longest gradient of either network; 0 for no limit. */
  readonly maxGradNorm: number;
  /** Draw transitions by how wrong they were predicted; null draws uniformly. */
  readonly priority: PriorityConfig | null;
  /** Feed the networks observations with mean 0 and variance 1. */
  readonly normaliseObs: boolean;
  /** Whether critics see the actor context beside the actor (default), or only the actor does, as in AWARE. */
  readonly criticsSeeContext?: boolean;
}

/** The paper's algorithm with today's usual sizes. */
export const ddpgDefaults: DdpgConfig = {
  hidden: [64, 64],
  actorLr: 1e-3,
  criticLr: 1e-3,
  gamma: 0.99,
  tau: 0.005,
  batch: 64,
  bufferSize: 100_000,
  learningStarts: 1_000,
  warmup: "uniform",
  trainEvery: 1,
  gradientSteps: 1,
  noise: { kind: "gaussian", sigma: 0.1 },
  twinCritics: false,
  targetNoise: { sigma: 0, clip: 0 },
  policyDelay: 1,
  maxGradNorm: 0,
  priority: null,
  normaliseObs: false,
};

/** What turns it into TD3, with that paper's values. */
export const td3Options = {
  twinCritics: true,
  targetNoise: { sigma: 0.2, clip: 0.5 },
  policyDelay: 2,
} satisfies Partial<DdpgConfig>;
