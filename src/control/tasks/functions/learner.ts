/**
 * The learner of a function's agent: PPO with the hyper-parameters of SIMPPO's Table 2.
 * Owns: them. Not here: the algorithm (learn/rl), who trains it.
 *
 * Not printed there, and taken from the algorithm's usual settings: λ of the advantages, the longest gradient. The value
 * function is not clipped, as the paper speaks of the policy's clip value only.
 */
import { constant, type PpoConfig, ppoDefaults } from "../../../learn/rl/index.ts";
import type { BadChoices } from "./task.ts";

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
