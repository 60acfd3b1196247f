/**
 * The functional core: an environment as pure functions over plain numbers.
 * Owns: the contract of such a core. Single and vector environments are built on it (rows.ts), so an environment is
 * written once, and a planner can ask "what if" from any state without disturbing a running episode.
 * Not here: time limits (a wrapper), random streams and episodes (rows.ts and above).
 */

import type { Rng } from "../../base/index.ts";
import type { BoxSpace, NumericSpace } from "./space.ts";

/** One step seen from outside: everything it may depend on, and where its result goes. */
export interface Move {
  readonly state: Float64Array;
  /** The action as plain numbers; a discrete one is its index in `action[0]`. */
  readonly action: Float64Array;
  readonly next: Float64Array;
  /** For worlds with chance in their dynamics; drawn from by `transition` only. */
  readonly rng: Rng;
}

/**
 * The functions keep no memory: all that lasts is in the state, and equal arguments give equal results.
 * Results are written into arrays they are handed, so that a million steps allocate nothing.
 */
export interface Core {
  readonly observationSpace: BoxSpace;
  readonly actionSpace: NumericSpace;
  /** How many numbers a state has. */
  readonly stateSize: number;
  /** Keys that `initial` understands in its options; any other key is refused. `state` always works. */
  readonly optionNames?: readonly string[];
  /** Draws the first state of an episode into `state`. */
  initial(state: Float64Array, rng: Rng, options: Readonly<Record<string, unknown>>): void;
  /** Reads `state` and `action`, writes all of `next`. */
  transition(move: Move): void;
  /** What the agent sees of a state, written into `obs`. */
  observe(state: Float64Array, obs: Float32Array): void;
  /** The reward of a move whose `next` is known. */
  reward(move: Move): number;
  isTerminal(state: Float64Array): boolean;
}
