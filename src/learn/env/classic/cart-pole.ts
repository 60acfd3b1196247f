/**
 * Cart and pole: push a cart left or right so that the pole hinged on it stays up.
 * From Barto, Sutton and Anderson, "Neuronlike adaptive elements that can solve difficult learning control problems"
 * (IEEE Trans. SMC 13, 1983), without friction, integrated by Euler's explicit rule; constants and limits are those of
 * Gymnasium's CartPole-v1. State and observation: position, velocity, angle, angular velocity.
 */

import type { Core } from "../core.ts";
import { box, discrete } from "../space.ts";

const GRAVITY = 9.8;
const CART_MASS = 1.0;
const POLE_MASS = 0.1;
const TOTAL_MASS = CART_MASS + POLE_MASS;
const HALF_POLE = 0.5;
const POLE_MOMENT = POLE_MASS * HALF_POLE;
const FORCE = 10;
const SECONDS_PER_STEP = 0.02;
const MAX_POSITION = 2.4;
const MAX_ANGLE = (12 * 2 * Math.PI) / 360;
const START = 0.05;

// The observable range is twice the range in which an episode goes on, so that the last observation is inside it.
const high = [2 * MAX_POSITION, Number.POSITIVE_INFINITY, 2 * MAX_ANGLE, Number.POSITIVE_INFINITY];
const low = high.map((x) => -x);

export const cartPole: Core = {
  observationSpace: box({ low, high }),
  actionSpace: discrete(2),
  stateSize: 4,
  initial(state, rng) {
    for (let i = 0; i < 4; i++) state[i] = -START + 2 * START * rng.next();
  },
  transition({ state, action, next }) {
    const velocity = state[1]!;
    const angle = state[2]!;
    const spin = state[3]!;
    const force = action[0] === 1 ? FORCE : -FORCE;
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    const push = (force + POLE_MOMENT * (spin * spin) * sin) / TOTAL_MASS;
    const spinGain = (GRAVITY * sin - cos * push) / (HALF_POLE * (4 / 3 - (POLE_MASS * (cos * cos)) / TOTAL_MASS));
    const velocityGain = push - (POLE_MOMENT * spinGain * cos) / TOTAL_MASS;
    next[0] = state[0]! + SECONDS_PER_STEP * velocity;
    next[1] = velocity + SECONDS_PER_STEP * velocityGain;
    next[2] = angle + SECONDS_PER_STEP * spin;
    next[3] = spin + SECONDS_PER_STEP * spinGain;
  },
  observe(state, obs) {
    obs[0] = state[0]!;
    obs[1] = state[1]!;
    obs[2] = state[2]!;
    obs[3] = state[3]!;
  },
  reward: () => 1,
  isTerminal(state) {
    const position = state[0]!;
    const angle = state[2]!;
    return position < -MAX_POSITION || position > MAX_POSITION || angle < -MAX_ANGLE || angle > MAX_ANGLE;
  },
};
