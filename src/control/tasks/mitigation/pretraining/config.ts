/**
 * What a training of mitigating agents is made of: the learner of Table 3.3, the curriculum, the scene.
 * Owns: defaults, each with its source. Plain JSON, since studies keep it with their results.
 */
import type { FaultKind } from "../../../../act/faults/index.ts";
import { type DdpgConfig, ddpgDefaults, type LearnerShape, td3Options } from "../../../../learn/rl/index.ts";
import { MITIGATION_ACTIONS, type MitigationActions } from "../action.ts";
import { MITIGATION_FEATURES } from "../observation.ts";
import { usualAlpha } from "../reward.ts";

/**
 * Table 3.3: two hidden layers of 40, learning rates 3e-4 and 3e-3, γ 0.9, minibatches of 64 from 1e5 transitions, soft
 * updates by 2e-3 (Algorithm 3.3 prints the discount factor in their place: a slip), noise of σ 0.2. The critic has 8 + 5
 * inputs and not the 23 that the text says, which follow from nothing in Table 3.2.
 */
export const firmDdpg: DdpgConfig = {
  ...ddpgDefaults,
  hidden: [40, 40],
  actorLr: 3e-4,
  criticLr: 3e-3,
  gamma: 0.9,
  tau: 2e-3,
  batch: 64,
  bufferSize: 100_000,
  noise: { kind: "gaussian", sigma: 0.2 },
  // Not printed: TD3's repairs and a bound on gradients. Without them policies collapse every few dozen episodes (ADR 0021).
  ...td3Options,
  maxGradNorm: 1,
  // Not printed: enough to fill some minibatches, few enough that a service of its own gets there.
  learningStarts: 400,
};

/** Table 3.3: what exploration loses of its noise with every step. */
export const EPSILON_DECAY = 1e-6;

export const mitigationShape: LearnerShape = {
  obs: MITIGATION_FEATURES,
  action: {
    kind: "continuous",
    low: new Array<number>(MITIGATION_ACTIONS).fill(-1),
    high: new Array<number>(MITIGATION_ACTIONS).fill(1),
  },
  actorContext: 0,
  criticContext: 0,
};

/** Episodes are short while policies are bad and grow in a straight line from `from` to `until` (3.3.3: from about 1,000 on). */
export interface Curriculum {
  readonly shortest: number;
  readonly longest: number;
  /** Episodes, as parts of the whole training. */
  readonly from: number;
  readonly until: number;
}

/** Table 3.3 has 300 steps of one second. A third of 3,000 episodes is where the paper begins to grow them. */
export const usualCurriculum: Curriculum = { shortest: 20, longest: 300, from: 1 / 3, until: 1 };

export function episodeLength({ shortest, longest, from, until }: Curriculum, progress: number): number {
  const share =
    until <= from ? (progress < from ? 0 : 1) : Math.min(1, Math.max(0, (progress - from) / (until - from)));
  return Math.round(shortest + (longest - shortest) * share);
}

export interface MitigationTraining {
  readonly episodes: number;
  readonly curriculum: Curriculum;
  readonly alpha: number;
  readonly actions: MitigationActions;
  /** Gradient steps per second of the world. Algorithm 3.3 has one per transition; here a second has one per container. */
  readonly updatesPerStep: number;
  readonly ddpg: DdpgConfig;
  readonly scene: SceneConfig;
}

export interface SceneConfig {
  /** Requests per second that limits are made for; each episode draws its load between these times that. */
  readonly designRate: number;
  readonly load: { readonly min: number; readonly max: number };
  /** Requests that the fluid rung walks through per second. */
  readonly samples: number;
  /** Anomalies that begin per second, anywhere in the application, and of which kinds. */
  readonly anomaliesPerSecond: number;
  readonly kinds: readonly FaultKind[];
  /** How long the application runs before the first anomaly, s. */
  readonly calm: number;
}

export const usualScene: SceneConfig = {
  designRate: 300,
  load: { min: 0.6, max: 1.2 },
  samples: 200,
  // A third of the paper's rate: its 0.33 keeps more requests from their SLO than any limits could mend, so that what one
  // container gets is lost among the others.
  anomaliesPerSecond: 0.1,
  // Not network delay, which no limit changes; not load, which differs from episode to episode anyway and at an injector's
  // full intensity harms all services at once, whatever one of them gets.
  kinds: ["cpu", "llc", "memory-bandwidth", "io-bandwidth", "network-bandwidth"],
  calm: 3,
};

export const usualTraining: MitigationTraining = {
  episodes: 3_000,
  curriculum: usualCurriculum,
  alpha: usualAlpha,
  actions: "headroom",
  updatesPerStep: 4,
  ddpg: firmDdpg,
  scene: usualScene,
};
