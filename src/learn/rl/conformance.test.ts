/** Every learner configuration against the learner contract. */

import { bcqDefaults } from "./bcq.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import { dqnDefaults } from "./dqn.ts";
import type { ConformanceCase } from "./learner-conformance.ts";
import { criticContextConformance, learnerConformance } from "./learner-conformance.ts";
import { ppoDefaults } from "./ppo.ts";

const flat = (value: number) => ({ from: value, to: value, fraction: 1 });
const priority = { alpha: 0.6, beta: 0.4, epsilon: 0.01 };
const continuous = { kind: "continuous", low: [0, 0], high: [1, 1] } as const;
const small = { hidden: [16], batch: 32, bufferSize: 400, learningStarts: 64 } as const;

const ppo = {
  ...ppoDefaults,
  hidden: [16],
  streams: 2,
  rolloutSteps: 32,
  minibatch: 32,
  lr: flat(1e-2),
  clip: flat(0.2),
};
const ddpg = {
  ...ddpgDefaults,
  ...small,
  actorLr: 3e-3,
  criticLr: 1e-2,
  noise: { kind: "gaussian", sigma: 0.3 },
} as const;
const dqn = { ...dqnDefaults, ...small, lr: flat(1e-2), targetEvery: 50, trainEvery: 2 };

const bcq = {
  ...bcqDefaults,
  ...small,
  actorLr: 3e-3,
  criticLr: 1e-2,
  candidates: 3,
  noise: { kind: "gaussian", sigma: 0.3 },
} as const;

const cases: readonly ConformanceCase[] = [
  {
    name: "PPO, one choice",
    algorithm: { kind: "ppo", config: ppo },
    action: { kind: "discrete", n: 3 },
    toySteps: 2_000,
  },
  {
    name: "PPO, several choices, with normalisation",
    algorithm: { kind: "ppo", config: { ...ppo, normaliseObs: true, normaliseReward: true, valueClip: 0 } },
    action: { kind: "multi-discrete", nvec: [2, 2] },
    toySteps: 2_000,
  },
  {
    name: "PPO, Gaussian",
    algorithm: { kind: "ppo", config: { ...ppo, logStdInit: -1, entropyCoef: 0 } },
    action: continuous,
    toySteps: 5_000,
  },
  { name: "DDPG", algorithm: { kind: "ddpg", config: ddpg }, action: continuous, toySteps: 1_500 },
  {
    name: "TD3 with prioritised replay and Ornstein–Uhlenbeck noise",
    algorithm: {
      kind: "ddpg",
      config: {
        ...ddpg,
        ...td3Options,
        priority,
        normaliseObs: true,
        maxGradNorm: 10,
        noise: { kind: "ornstein-uhlenbeck", sigma: 0.3, theta: 0.15, dt: 1 },
      },
    },
    action: continuous,
    toySteps: 2_000,
  },
  {
    name: "BCQ without its constraint",
    algorithm: { kind: "bcq", config: { ...bcq, constraint: flat(0), policyDelay: 2, normaliseObs: true } },
    action: continuous,
    toySteps: 1_500,
  },
  {
    name: "BCQ whose constraint is taken away in the first half",
    algorithm: { kind: "bcq", config: { ...bcq, constraint: { from: 1, to: 0, fraction: 0.5 }, maxGradNorm: 10 } },
    action: continuous,
    toySteps: 1_500,
  },
  { name: "DQN", algorithm: { kind: "dqn", config: dqn }, action: { kind: "discrete", n: 3 }, toySteps: 1_000 },
  {
    name: "DQN, single, squared error, prioritised, averaged",
    algorithm: {
      kind: "dqn",
      config: { ...dqn, double: false, loss: "mse", priority, normaliseObs: true, averaging: 0.05 },
    },
    action: { kind: "discrete", n: 3 },
    toySteps: 1_000,
  },
];

for (const subject of cases) {
  learnerConformance(subject);
  if (subject.algorithm.kind !== "dqn") criticContextConformance(subject);
}
