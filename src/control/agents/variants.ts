/**
 * The ways to train many agents on one platform that SIMPPO compares, so that a study differs by one word.
 * Owns: what each of them is. Not here: how a fleet is trained (fleet-training.ts), rules (control/fallbacks).
 */
import { type Ms, seconds } from "../../base/index.ts";
import {
  type DecisionCharge,
  type FunctionsAlgorithm,
  functionFeatures,
  sharedFeatures,
} from "../tasks/functions/index.ts";
import type { CoordinatorOptions } from "./coordinator.ts";

/**
 * What critics see besides their agent's own observation. `global`: the virtual agent, in six numbers. `global-deviations`: with
 * their standard deviations over the others. `everything`: the mean of all that others see, as mean-field theory has it.
 * `by-type`: a virtual agent for each kind of function. `by-percentile`: one that has little of everything, one in the middle, one
 * that has much.
 */
export type CriticView = "own" | "global" | "global-deviations" | "everything" | "by-type" | "by-percentile";

/** Of the virtual agents by percentile. */
const virtualPercentiles = [0.1, 0.5, 0.9] as const;

export interface Variant {
  /** Paid for its own function, or the mean of all. */
  readonly reward: "own" | "team";
  readonly critic: CriticView;
  /** PPO unless given. */
  readonly algorithm?: FunctionsAlgorithm;
  /** Of PPO. Table 2: 10 alone, 5 beside others. */
  readonly minibatch: number;
  /** New agents begin with the model of their kind of function. */
  readonly sharing: boolean;
  /** One after the other, the worst off first, each with a moment of the platform to itself. Undefined: all at once. */
  readonly turn?: DecisionCharge;
}

/** A look and a decision take so long where all decide at once (SIMPPO, 7.3: 240 ± 13 ms). */
export const usualCharge: DecisionCharge = { takes: seconds(0.24), inTurn: false };

const simppo: Variant = { reward: "team", critic: "global", minibatch: 5, sharing: true };

export const variants = {
  /** Each by itself, blind to all others. */
  "s-rl": { reward: "own", critic: "own", minibatch: 10, sharing: false },
  /** The paper's ablations of one agent by itself (3.2, Table 2). */
  "s-rl-minibatch-5": { reward: "own", critic: "own", minibatch: 5, sharing: false },
  "s-rl-dqn": { reward: "own", critic: "own", minibatch: 10, sharing: false, algorithm: "dqn" },
  "s-rl-ddpg": { reward: "own", critic: "own", minibatch: 10, sharing: false, algorithm: "ddpg" },
  /** The dissertation's first attempt: independent learners with a common reward. */
  "il-rl": { reward: "team", critic: "own", minibatch: 10, sharing: false },
  /** Its second: one decision at a time, from a queue with the worst SLO preservation first. */
  "cpq-rl": { reward: "own", critic: "own", minibatch: 10, sharing: false, turn: { takes: seconds(1), inTurn: true } },
  simppo,
  /** The paper's text adds deviations, its number of parameters (4,993 fits 11 inputs) leaves them out. */
  "simppo-deviations": { ...simppo, critic: "global-deviations" },
  "simppo-all": { ...simppo, critic: "everything" },
  "simppo-no-sharing": { ...simppo, sharing: false },
  /** Beyond the paper. */
  "simppo-types": { ...simppo, critic: "by-type" },
  "simppo-percentiles": { ...simppo, critic: "by-percentile" },
  /** A virtual agent in the critic, and each paid for its own function: the team's reward hides what one did itself. */
  "simppo-own": { ...simppo, reward: "own" },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof variants;
export const variantNames = Object.keys(variants) as readonly VariantName[];

/** What the coordinator of a fleet of this variant adds up. */
export function coordinatorOf(
  { critic }: Pick<Variant, "critic">,
  { groups, expiry }: { readonly groups: readonly string[]; readonly expiry: Ms },
): CoordinatorOptions {
  return {
    features:
      critic === "everything" ? functionFeatures.map((name) => ({ name, combine: "mean" as const })) : sharedFeatures,
    deviations: critic === "global-deviations",
    expiry,
    ...(critic === "by-percentile" ? { percentiles: virtualPercentiles } : {}),
    ...(critic === "by-type" ? { groups } : {}),
  };
}
