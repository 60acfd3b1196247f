/**
 * Acrobot: a two-link robot hanging from a bar swings its tip above the bar with torque at the elbow only.
 * From Sutton, "Generalization in reinforcement learning: successful examples using sparse coarse coding" (NIPS 1996),
 * with the dynamics as given in Sutton and Barto's book, one step of classical Runge–Kutta, and the constants of
 * Gymnasium's Acrobot-v1. State: two angles and their velocities. Observation: cosine and sine of each angle, velocities.
 */

import type { Core } from "../core.ts";
import { box, discrete } from "../space.ts";

const GRAVITY = 9.8;
const MASS_1 = 1;
const MASS_2 = 1;
const LENGTH_1 = 1;
const CENTRE_1 = 0.5;
const CENTRE_2 = 0.5;
const INERTIA = 1;
const MAX_SPEED_1 = 4 * Math.PI;
const MAX_SPEED_2 = 9 * Math.PI;
const SECONDS_PER_STEP = 0.2;
const START = 0.1;

const high = [1, 1, 1, 1, MAX_SPEED_1, MAX_SPEED_2];

// Scratch of one step: written before it is read in every call, so nothing is remembered from step to step.
const k1 = new Float64Array(4);
const k2 = new Float64Array(4);
const k3 = new Float64Array(4);
const k4 = new Float64Array(4);
const middle = new Float64Array(4);

export const acrobot: Core = {
  observationSpace: box({ low: high.map((x) => -x), high }),
  actionSpace: discrete(3),
  stateSize: 4,
  initial(state, rng) {
    for (let i = 0; i < 4; i++) state[i] = Math.fround(-START + 2 * START * rng.next());
  },
  transition({ state, action, next }) {
    const torque = action[0]! - 1;
    const half = SECONDS_PER_STEP / 2;
    slopes(state, torque, k1);
    for (let i = 0; i < 4; i++) middle[i] = state[i]! + half * k1[i]!;
    slopes(middle, torque, k2);
    for (let i = 0; i < 4; i++) middle[i] = state[i]! + half * k2[i]!;
    slopes(middle, torque, k3);
    for (let i = 0; i < 4; i++) middle[i] = state[i]! + SECONDS_PER_STEP * k3[i]!;
    slopes(middle, torque, k4);
    const sixth = SECONDS_PER_STEP / 6;
    for (let i = 0; i < 4; i++) next[i] = state[i]! + sixth * (k1[i]! + 2 * k2[i]! + 2 * k3[i]! + k4[i]!);
    next[0] = wrapAngle(next[0]!);
    next[1] = wrapAngle(next[1]!);
    next[2] = clamp(next[2]!, MAX_SPEED_1);
    next[3] = clamp(next[3]!, MAX_SPEED_2);
  },
  observe(state, obs) {
    obs[0] = Math.cos(state[0]!);
    obs[1] = Math.sin(state[0]!);
    obs[2] = Math.cos(state[1]!);
    obs[3] = Math.sin(state[1]!);
    obs[4] = state[2]!;
    obs[5] = state[3]!;
  },
  reward: ({ next }) => (isTipUp(next) ? 0 : -1),
  isTerminal: isTipUp,
};

/** The tip is more than one link above the bar. */
function isTipUp(state: Float64Array): boolean {
  return -Math.cos(state[0]!) - Math.cos(state[1]! + state[0]!) > 1;
}

/** The time derivatives of the state; d1, d2, phi1 and phi2 are the book's names. */
function slopes(state: Float64Array, torque: number, into: Float64Array): void {
  const angle1 = state[0]!;
  const angle2 = state[1]!;
  const speed1 = state[2]!;
  const speed2 = state[3]!;
  const cos2 = Math.cos(angle2);
  const sin2 = Math.sin(angle2);
  const d1 =
    MASS_1 * CENTRE_1 ** 2 +
    MASS_2 * (LENGTH_1 ** 2 + CENTRE_2 ** 2 + 2 * LENGTH_1 * CENTRE_2 * cos2) +
    INERTIA +
    INERTIA;
  const d2 = MASS_2 * (CENTRE_2 ** 2 + LENGTH_1 * CENTRE_2 * cos2) + INERTIA;
  const phi2 = MASS_2 * CENTRE_2 * GRAVITY * Math.cos(angle1 + angle2 - Math.PI / 2);
  const phi1 =
    -MASS_2 * LENGTH_1 * CENTRE_2 * (speed2 * speed2) * sin2 -
    2 * MASS_2 * LENGTH_1 * CENTRE_2 * speed2 * speed1 * sin2 +
    (MASS_1 * CENTRE_1 + MASS_2 * LENGTH_1) * GRAVITY * Math.cos(angle1 - Math.PI / 2) +
    phi2;
  const gain2 =
    (torque + (d2 / d1) * phi1 - MASS_2 * LENGTH_1 * CENTRE_2 * (speed1 * speed1) * sin2 - phi2) /
    (MASS_2 * CENTRE_2 ** 2 + INERTIA - (d2 * d2) / d1);
  into[0] = speed1;
  into[1] = speed2;
  into[2] = -(d2 * gain2 + phi1) / d1;
  into[3] = gain2;
}

function wrapAngle(angle: number): number {
  let x = angle;
  while (x > Math.PI) x -= 2 * Math.PI;
  while (x < -Math.PI) x += 2 * Math.PI;
  return x;
}

function clamp(x: number, limit: number): number {
  return Math.min(Math.max(x, -limit), limit);
}
