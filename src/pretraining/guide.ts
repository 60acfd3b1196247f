/**
 * What somebody who knows an application would set its limits to: as many pods and as much memory as it needs, and CPU by
 * its load. Learners of pre-training are taught by it.
 * Owns: the rule in the coordinates of the paper's actions, and the search for its four parameters in the application's own
 * world. Not here: who learns from it (learn/meta), worlds and members (pool-members.ts).
 *
 *   CPU of a pod = max(b, k · load / usual load)     memory = m     pods = n
 *
 * k is the CPU that the usual load computes over the share of it that may be in use. All four are places between the
 * bounds, as in an action; k may lie beyond them. A constant action that is best in some hours earned 137 in others, this
 * rule 148 (24 unseen applications of seed 1001, searched in six hours, nothing off, and played in four others).
 */

import type { Env } from "../learn/env/index.ts";
import type { GuideRule } from "../learn/meta/index.ts";
import { bounds } from "./scene.ts";

/** b, m, n, k. */
export const guideParameters = [
  "CPU of an idle pod",
  "memory of a pod",
  "pods",
  "CPU of a pod at the usual load",
] as const;

/** Where the load is in an observation: (load − usual) / (load + usual). */
const LOAD_AT = 10;
/** One doubling of CPU, in an action's scale. */
const PER_E = 2 / Math.log(bounds.cpu.max / bounds.cpu.min);
/** No load has no logarithm. */
const LEAST_LOAD = 1e-3;

export const limitsGuide: GuideRule = ([b = 0, m = 0, n = 0, k = 0], obs) => {
  const load = obs[LOAD_AT] ?? 0;
  const times = Math.max((1 + load) / Math.max(1 - load, LEAST_LOAD), LEAST_LOAD);
  return Float32Array.of(clip(Math.max(b, k + PER_E * Math.log(times))), clip(m), clip(n));
};

const clip = (value: number): number => Math.min(Math.max(value, -1), 1);

/**
 * Episodes that parameters are tried in, each in another hour of the week and with each of them off by so much up or down:
 * whoever is to do the same from what little was seen will not hit them, and too little memory kills where too much costs a
 * little.
 */
const OFF = 0.2;
/** By episode and parameter: each is as often too high as too low, and no two of them always together. */
const SIGNS = [
  [1, 1, 1, -1],
  [-1, 1, -1, 1],
  [1, -1, -1, 1],
  [-1, -1, 1, 1],
  [1, 1, -1, -1],
  [-1, -1, 1, -1],
] as const;
const START = [-0.6, 0, -0.3, 0] as const;
/** First steps of the search by parameter, how often it goes around, and by how much steps shrink each time. */
const STEPS = [0.35, 0.4, 0.35, 0.35] as const;
const ROUNDS = 3;
const SHRINK = 1.8;
const MOST_STEPS = 4;
/** Less is chance. */
const BETTER = 0.05;

/** By the rewards of its own episodes, one parameter at a time. The same for the same world. */
export function searchGuide(makeWorld: () => Env<Float32Array, Float32Array>): Float32Array {
  const earns = (parameters: readonly number[]): number => {
    let sum = 0;
    for (const [hour, signs] of SIGNS.entries()) {
      const given = Float32Array.from(parameters, (value, k) => value + OFF * (signs[k] ?? 0));
      sum += episode(makeWorld(), hour, given) / SIGNS.length;
    }
    return sum;
  };
  let best: number[] = [...START];
  let most = earns(best);
  for (let round = 0; round < ROUNDS; round++)
    for (const [place, first] of STEPS.entries())
      for (const direction of [1, -1])
        for (let step = 0; step < MOST_STEPS; step++) {
          const tried = best.with(place, (best[place] as number) + (direction * first) / SHRINK ** round);
          const earned = earns(tried);
          if (earned <= most + BETTER) break;
          [best, most] = [tried, earned];
        }
  return Float32Array.from(best);
}

function episode(env: Env<Float32Array, Float32Array>, hour: number, parameters: Float32Array): number {
  let { obs } = env.reset({ seed: hour });
  let sum = 0;
  let isOver = false;
  while (!isOver) {
    const step = env.step(Float32Array.from(limitsGuide(parameters, obs)));
    sum += step.reward;
    obs = step.obs;
    isOver = step.end !== "no";
  }
  env.close();
  return sum;
}
