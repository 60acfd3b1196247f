/**
 * Mountain car with continuous force: an engine too weak for the hill must first swing back to gather speed.
 * From Moore, "Efficient memory-based learning for robot control" (1990), in the continuous form with goal 0.45 and
 * power 0.0015 of Gymnasium's MountainCarContinuous-v0. State and observation: position and velocity.
 *
 * The published implementation keeps its state in single precision between steps, and over 999 steps that rounding
 * adds up to more than a test should forgive, so the state is rounded here at the same places.
 */

import type { Core } from "../core.ts";
import { box } from "../space.ts";

const MIN_POSITION = -1.2;
const MAX_POSITION = 0.6;
const MAX_SPEED = 0.07;
const GOAL = 0.45;
const POWER = 0.0015;
const SLOPE = 0.0025;

export const mountainCarContinuous: Core = {
  observationSpace: box({ low: [MIN_POSITION, -MAX_SPEED], high: [MAX_POSITION, MAX_SPEED] }),
  actionSpace: box({ low: -1, high: 1, size: 1 }),
  // The third number says whether the goal was reached: it is decided before the state is rounded.
  stateSize: 3,
  initial(state, rng) {
    state[0] = Math.fround(-0.6 + 0.2 * rng.next());
    state[1] = 0;
    state[2] = 0;
  },
  transition({ state, action, next }) {
    const force = Math.min(Math.max(action[0]!, -1), 1);
    const gain = force * POWER - SLOPE * Math.cos(Math.fround(3 * state[0]!));
    let velocity = Math.min(Math.max(state[1]! + gain, -MAX_SPEED), MAX_SPEED);
    const position = Math.min(Math.max(state[0]! + velocity, MIN_POSITION), MAX_POSITION);
    // The left end is a wall that takes all speed.
    if (position === MIN_POSITION && velocity < 0) velocity = 0;
    next[0] = Math.fround(position);
    next[1] = Math.fround(velocity);
    next[2] = position >= GOAL && velocity >= 0 ? 1 : 0;
  },
  observe(state, obs) {
    obs[0] = state[0]!;
    obs[1] = state[1]!;
  },
  reward({ action, next }) {
    // Effort is charged for the force that was asked for, even where the engine gave less.
    return (next[2] === 1 ? 100 : 0) - action[0]! * action[0]! * 0.1;
  },
  isTerminal: (state) => state[2] === 1,
};
