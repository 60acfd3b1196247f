/**
 * The ways to train many agents on one platform that SIMPPO compares, so that a study differs by one word.
 * Owns: what each of them is. Not here: how a fleet is trained (fleet-training.ts), rules (control/fallbacks).
 */
import { seconds } from "../../base/index.ts";
import type { DecisionCharge } from "../tasks/functions/index.ts";

/**
 * What critics see besides their agent's own observation. `global`: the virtual agent, in six numbers. `global-deviations`: with
 * their standard deviations over the others. `everything`: the mean of all that others see, as mean-field theory has it.
 * `by-type`: a virtual agent for each kind of function.
 */
export type CriticView = "own" | "global" | "global-deviations" | "everything" | "by-type";

export interface Variant {
  /** Paid for its own function, or the mean of all. */
  readonly reward: "own" | "team";
  readonly critic: CriticView;
  /** Table 2: 10 alone, 5 beside others. */
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
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof variants;
export const variantNames = Object.keys(variants) as readonly VariantName[];
