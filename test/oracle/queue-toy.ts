/**
 * A queue with one knob, small enough to be rolled out by the million: the ground truth of off-policy estimates and of
 * learning from another controller's records.
 * A load wanders around 1; the action sets the capacity between 0.5 and 4 on a log scale; what is not served waits.
 * Reward = SLO preservation + utilisation, 0 to 2 per step, as in the autoscaling task.
 */

import type { Rng } from "../../src/base/index.ts";
import type { LearnerShape, Transition } from "../../src/learn/rl/index.ts";

export const queueShape: LearnerShape = {
  obs: 3,
  action: { kind: "continuous", low: [-1], high: [1] },
  actorContext: 0,
  criticContext: 0,
};

export type QueuePolicy = (obs: Float32Array, rng: Rng) => number;

const capacityOf = (action: number) => 0.5 * 8 ** ((action + 1) / 2);

/** The action that gives this capacity. */
export const actionFor = (capacity: number) =>
  Math.min(Math.max((2 * Math.log(capacity / 0.5)) / Math.log(8) - 1, -1), 1);

/** Keeps utilisation at a target, as a horizontal autoscaler does, with normal noise on the action. */
export const targetUtilisation =
  (target: number, noise = 0): QueuePolicy =>
  (obs, rng) => {
    const wanted = actionFor(((obs[0] ?? 0) + (obs[1] ?? 0)) / target);
    return Math.min(Math.max(wanted + (noise > 0 ? noise * rng.normal() : 0), -1), 1);
  };

/** One episode. Load and noise come from forks of their own, so that every policy meets the same load. */
export function playQueue(policy: QueuePolicy, rng: Rng, steps = 100): Transition[] {
  const loads = rng.fork("load");
  const chance = rng.fork("policy");
  let load = 0.6 + 0.8 * loads.next();
  let waiting = 0;
  let utilisation = 0.5;
  const episode: Transition[] = [];
  for (let t = 0; t < steps; t++) {
    const obs = Float32Array.of(load, waiting, utilisation);
    const action = policy(obs, chance);
    const capacity = capacityOf(action);
    load = Math.min(Math.max(load + 0.2 * (1 - load) + 0.12 * loads.normal(), 0.2), 2.5);
    const work = load + waiting;
    const served = Math.min(work, capacity);
    waiting = Math.min(work - served, 3);
    utilisation = served / capacity;
    // Latency grows as 1/(1 − utilisation) and with what waits; the objective is four times the idle latency.
    const latency = 1 / Math.max(1 - utilisation, 0.02) + 8 * waiting;
    const reward = Math.min(1, 4 / latency) + utilisation;
    const nextObs = Float32Array.of(load, waiting, utilisation);
    episode.push({ obs, action: [action], reward, nextObs, end: t === steps - 1 ? "truncated" : "no" });
  }
  return episode;
}

export const returnOf = (episode: readonly Transition[]) => episode.reduce((sum, { reward }) => sum + reward, 0);

/** The mean return over many episodes that no estimate has seen. */
export function trueReturn(policy: QueuePolicy, rng: Rng, episodes = 400): number {
  let sum = 0;
  for (let e = 0; e < episodes; e++) sum += returnOf(playQueue(policy, rng.fork(`truth ${e}`)));
  return sum / episodes;
}
