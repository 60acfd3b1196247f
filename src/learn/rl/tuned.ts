/**
 * Settings that are known to work, per environment and algorithm.
 * They start from the published ones (RL Baselines3 Zoo at 22e3ff2, CleanRL at fe8d8a0); what was changed and why is
 * said beside each. Values were chosen on seeds from 1000 on. That DQN on CartPole and both algorithms on MountainCar
 * needed other values was seen on seeds 1 to 20; the studies report seeds from 101 on, which nothing was chosen on.
 */

import type { Algorithm } from "./algorithms.ts";
import type { DdpgConfig } from "./ddpg-config.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import { dqnDefaults } from "./dqn.ts";
import { ppoDefaults } from "./ppo.ts";
import { annealed } from "./schedule.ts";

export const algorithmNames = ["ppo", "dqn", "ddpg", "td3"] as const;
export type AlgorithmName = (typeof algorithmNames)[number];

export interface Tuned {
  readonly algorithm: Algorithm;
  /** Environment steps after which these settings are done. */
  readonly totalSteps: number;
}

type TunedTable = { readonly [envId: string]: { readonly [name in AlgorithmName]?: Tuned } };

// Zoo, ddpg.yml and td3.yml, Pendulum-v1: γ 0.98, learning rate 1e-3, noise 0.1, one gradient step per step, 20,000
// steps. Here networks of 64×64 instead of 400×300 and batches of 64 instead of 256, which costs a fiftieth and learns
// as well, and 1,000 instead of 10,000 random steps.
const pendulum: DdpgConfig = { ...ddpgDefaults, gamma: 0.98, learningStarts: 1_000, bufferSize: 30_000 };

// Zoo, MountainCarContinuous-v0: Ornstein–Uhlenbeck noise of 0.5, learning rate 1e-3, γ 0.99. Networks and batches as
// above, and a fifth of the zoo's 300,000 steps. Four changes, each against a way in which some seeds failed:
// - dt 0.2 instead of SB3's 0.01. The car swings with a period of 72 steps; with dt 0.01 the noise forgets over 667 and
//   is almost a constant push, with 0.2 over 33, which swings the car up: acting by noise alone, the top is found within
//   2,640 steps with 99 of 100 seeds, against 10 % that do not find it within 20,000.
// - the noise also draws the first 5,000 steps, since independent draws cancel out and find nothing; so the first
//   updates know the reward at the top and not only the cost of acting.
// - normalised observations: the velocity is within ±0.07. Beside the position the policy hardly sees it, learns one
//   push for all states, and its tanh then saturates for good (return −99.9).
// - the DDPG paper's actor rate of 1e-4, so that the policy does not run into the same saturation while its critics are
//   still wrong.
const mountainCar: DdpgConfig = {
  ...ddpgDefaults,
  learningStarts: 5_000,
  warmup: "noise",
  bufferSize: 60_000,
  noise: { kind: "ornstein-uhlenbeck", sigma: 0.5, theta: 0.15, dt: 0.2 },
  normaliseObs: true,
  actorLr: 1e-4,
};

const table: TunedTable = {
  "CartPole-v1": {
    // Zoo, ppo.yml, unchanged.
    ppo: {
      totalSteps: 100_000,
      algorithm: {
        kind: "ppo",
        config: {
          ...ppoDefaults,
          streams: 8,
          rolloutSteps: 32,
          minibatch: 256,
          lambda: 0.8,
          gamma: 0.98,
          epochs: 20,
          entropyCoef: 0,
          lr: annealed(1e-3),
          clip: annealed(0.2),
          valueClip: 0,
          valueCoef: 0.5,
        },
      },
    },
    // Zoo, dqn.yml, in its exploration, buffer, start and rhythm (128 gradient steps after every 256 steps); CleanRL in
    // its network, squared error and batch. Double estimates, an annealed learning rate and averaged weights to act by:
    // with either project's own settings some seeds end far below their best.
    dqn: {
      totalSteps: 100_000,
      algorithm: {
        kind: "dqn",
        config: {
          ...dqnDefaults,
          hidden: [120, 84],
          lr: annealed(1e-3),
          loss: "mse",
          batch: 128,
          bufferSize: 100_000,
          targetEvery: 256,
          trainEvery: 256,
          gradientSteps: 128,
          averaging: 0.001,
          epsilon: { from: 1, to: 0.04, fraction: 0.16 },
        },
      },
    },
  },
  "Pendulum-v1": {
    ddpg: { totalSteps: 30_000, algorithm: { kind: "ddpg", config: pendulum } },
    td3: { totalSteps: 30_000, algorithm: { kind: "ddpg", config: { ...pendulum, ...td3Options } } },
  },
  "Acrobot-v1": {
    // Zoo, ppo.yml: 16 environments, normalised; minibatch and learning rate are SB3's defaults. Annealed to zero over
    // CleanRL's 500,000 steps instead of constant over 1,000,000: the last policy is then as good as the best.
    ppo: {
      totalSteps: 500_000,
      algorithm: {
        kind: "ppo",
        config: {
          ...ppoDefaults,
          streams: 16,
          rolloutSteps: 256,
          minibatch: 64,
          epochs: 4,
          lambda: 0.94,
          gamma: 0.99,
          entropyCoef: 0,
          lr: annealed(3e-4),
          valueClip: 0,
          valueCoef: 0.5,
          normaliseObs: true,
          normaliseReward: true,
        },
      },
    },
    // Zoo, dqn.yml, with CleanRL's network and its batch; double estimates.
    dqn: {
      totalSteps: 100_000,
      algorithm: {
        kind: "dqn",
        config: {
          ...dqnDefaults,
          hidden: [120, 84],
          lr: annealed(6.3e-4),
          batch: 128,
          bufferSize: 50_000,
          learningStarts: 1_000,
          targetEvery: 250,
          trainEvery: 4,
          gradientSteps: 2,
          epsilon: { from: 1, to: 0.1, fraction: 0.12 },
        },
      },
    },
  },
  "MountainCarContinuous-v0": {
    ddpg: { totalSteps: 60_000, algorithm: { kind: "ddpg", config: mountainCar } },
    td3: { totalSteps: 60_000, algorithm: { kind: "ddpg", config: { ...mountainCar, ...td3Options } } },
  },
};

/** Tuned settings where there are some, else the algorithm's defaults with 100,000 steps. */
export function tunedFor(envId: string, name: AlgorithmName): Tuned {
  return table[envId]?.[name] ?? { algorithm: defaultAlgorithm(name), totalSteps: 100_000 };
}

function defaultAlgorithm(name: AlgorithmName): Algorithm {
  switch (name) {
    case "ppo":
      return { kind: "ppo", config: ppoDefaults };
    case "dqn":
      return { kind: "dqn", config: dqnDefaults };
    case "ddpg":
      return { kind: "ddpg", config: ddpgDefaults };
    case "td3":
      return { kind: "ddpg", config: { ...ddpgDefaults, ...td3Options } };
  }
}
