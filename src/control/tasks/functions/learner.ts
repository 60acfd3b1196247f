/**
 * The learner of a function's agent: PPO with the hyper-parameters of SIMPPO's Table 2, or one that the paper compares it with.
 * Owns: them, and what each says as the number of a choice. Not here: the algorithms (learn/rl), who trains them.
 *
 * Not printed there, and taken from the algorithm's usual settings: λ of the advantages, the longest gradient. The value
 * function is not clipped, as the paper speaks of the policy's clip value only.
 */
import {
  type ActionShape,
  type Algorithm,
  constant,
  ddpgDefaults,
  dqnDefaults,
  type PpoConfig,
  ppoDefaults,
} from "../../../learn/rl/index.ts";
import { functionChoices } from "./action.ts";
import type { BadChoices } from "./task.ts";

export type FunctionsAlgorithm = "ppo" | "dqn" | "ddpg";

export interface FunctionsLearner {
  readonly algorithm: Algorithm;
  readonly action: ActionShape;
  /** The number of the choice that an action stands for. */
  readonly choiceOf: (action: Float32Array) => number;
}

/**
 * DQN and DDPG know no masks: they belong to the paper's arm, where bad choices cost 1. DDPG has no choices either: it says how
 * much it likes each of them, and the one it likes best is made. Their settings are the library's defaults, but that both begin
 * to learn after an episode or two and DQN explores over the first fifth of its training, as the paper tells nothing of them.
 */
export function functionsLearner(
  kind: FunctionsAlgorithm,
  options: { readonly badChoices: BadChoices; readonly minibatch: number },
): FunctionsLearner {
  const n = functionChoices.length;
  const discrete = { kind: "discrete", n } as const;
  const first = (action: Float32Array): number => action[0] as number;
  switch (kind) {
    case "ppo":
      return { algorithm: { kind, config: functionsPpo(options) }, action: discrete, choiceOf: first };
    case "dqn":
      return {
        algorithm: { kind, config: { ...dqnDefaults, learningStarts: 100 } },
        action: discrete,
        choiceOf: first,
      };
    case "ddpg":
      return {
        algorithm: { kind, config: { ...ddpgDefaults, learningStarts: 100, trainEvery: 4 } },
        action: { kind: "continuous", low: new Array(n).fill(-1), high: new Array(n).fill(1) },
        choiceOf: (action) => action.reduce((best, value, i) => (value > (action[best] as number) ? i : best), 0),
      };
  }
}

/** An update after each episode of 50 steps; minibatches of 10 alone, 5 beside others. */
export const functionsPpo = ({
  badChoices = "masked",
  minibatch = 10,
}: {
  readonly badChoices?: BadChoices;
  readonly minibatch?: number;
} = {}): PpoConfig => ({
  ...ppoDefaults,
  hidden: [64, 64],
  lr: constant(3e-4),
  streams: 1,
  rolloutSteps: 50,
  epochs: 5,
  minibatch,
  gamma: 0.99,
  clip: constant(0.2),
  valueClip: 0,
  valueCoef: 0.05,
  entropyCoef: 0.01,
  maskedChoices: badChoices === "masked",
});
