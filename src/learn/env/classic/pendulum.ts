/**
 * Pendulum: swing up and hold a rod with a torque too weak to lift it in one go.
 * A uniform rod of length 1 and mass 1 under g = 10, semi-implicit Euler, costs and limits of Gymnasium's Pendulum-v1.
 * State: angle from upright (not wrapped) and angular velocity. Observation: cosine, sine, angular velocity.
 * It never terminates by itself.
 */

import type { Core } from "../core.ts";
import { box } from "../space.ts";

const GRAVITY = 10;
const MASS = 1;
const LENGTH = 1;
const MAX_TORQUE = 2;
const MAX_SPEED = 8;
const SECONDS_PER_STEP = 0.05;

export const pendulum: Core = {
  observationSpace: box({ low: [-1, -1, -MAX_SPEED], high: [1, 1, MAX_SPEED] }),
  actionSpace: box({ low: -MAX_TORQUE, high: MAX_TORQUE, size: 1 }),
  stateSize: 2,
  initial(state, rng) {
    state[0] = -Math.PI + 2 * Math.PI * rng.next();
    state[1] = -1 + 2 * rng.next();
  },
  transition({ state, action, next }) {
    const angle = state[0]!;
    const torque = clamp(action[0]!, MAX_TORQUE);
    // The rod's moment of inertia is m l²/3, its weight acts at l/2.
    const pull = ((3 * GRAVITY) / (2 * LENGTH)) * Math.sin(angle) + (3 / (MASS * LENGTH ** 2)) * torque;
    const speed = clamp(state[1]! + pull * SECONDS_PER_STEP, MAX_SPEED);
    next[0] = angle + speed * SECONDS_PER_STEP;
    next[1] = speed;
  },
  observe(state, obs) {
    obs[0] = Math.cos(state[0]!);
    obs[1] = Math.sin(state[0]!);
    obs[2] = state[1]!;
  },
  reward({ state, action }) {
    const angle = wrapAngle(state[0]!);
    const speed = state[1]!;
    const torque = clamp(action[0]!, MAX_TORQUE);
    return -(angle * angle + 0.1 * (speed * speed) + 0.001 * (torque * torque));
  },
  isTerminal: () => false,
};

function clamp(x: number, limit: number): number {
  return Math.min(Math.max(x, -limit), limit);
}

/** Into [-π, π): the remainder of a floored division, as the published code has it. */
function wrapAngle(angle: number): number {
  const turn = 2 * Math.PI;
  const rest = (angle + Math.PI) % turn;
  return (rest < 0 ? rest + turn : rest) - Math.PI;
}
