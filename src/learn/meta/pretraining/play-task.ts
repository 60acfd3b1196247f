/**
 * What a thread does to gather experience: plays episodes of one environment with a copy of the shared policy.
 * Its result depends on its job alone: the world of a visit is made for it, and chance comes from {seed, environment,
 * round}. So nothing of a world has to be saved, and it does not matter which thread plays.
 */

import type { Rng } from "../../../base/index.ts";
import { seededRng, unwrap } from "../../../base/index.ts";
import type { End, Env, EnvConfig } from "../../env/index.ts";
import type { Learner } from "../../rl/index.ts";
import type { FeatureLayout } from "../features.ts";
import type { Trajectory } from "../trajectory.ts";
import type { Episode } from "./episode.ts";
import { trajectoryOf } from "./episode.ts";

/** Makes the environment that a config names, on the thread that plays in it. */
export type MakeWorld = (config: EnvConfig) => Env<Float32Array, Float32Array>;

export interface Visit {
  readonly seed: number;
  readonly environment: number;
  readonly world: EnvConfig;
  /** Whose chance it is, together with the seed and the environment. */
  readonly round: number;
  readonly purpose: "own" | "arrival" | "evaluation";
  readonly episodes: number;
  readonly context: Float32Array;
  /** Deviation of the noise on actions; 0 for none. */
  readonly noise: number;
}

/** Episodes follow one another in one world if the world goes on after its end, as a live one does. */
export function play(policy: Learner, visit: Visit, makeWorld: MakeWorld): readonly Episode[] {
  const rng = seededRng(visit.seed).fork(visit.purpose).fork(visit.environment).fork(visit.round);
  const env = makeWorld(visit.world);
  try {
    const noise = rng.fork("noise");
    let start = env.reset({ seed: rng.fork("world").int(2 ** 31) });
    return Array.from({ length: visit.episodes }, (_, episode) => {
      if (episode > 0) start = env.reset({});
      return playEpisode(env, start.obs, { policy, visit, noise });
    });
  } finally {
    env.close();
  }
}

/** The same, as the encoder reads it: how a workload that nobody has seen gets its first trajectories. */
export function playTrajectories(
  policy: Learner,
  visit: Visit,
  { makeWorld, layout }: { readonly makeWorld: MakeWorld; readonly layout: FeatureLayout },
): readonly Trajectory[] {
  return play(policy, visit, makeWorld).map((episode) => trajectoryOf(episode, layout));
}

interface Player {
  readonly policy: Learner;
  readonly visit: Visit;
  readonly noise: Rng;
}

function playEpisode(
  env: Env<Float32Array, Float32Array>,
  first: Float32Array,
  { policy, visit, noise }: Player,
): Episode {
  const obs: Float32Array[] = [first.slice()];
  const actions: Float32Array[] = [];
  const rewards: number[] = [];
  let end: End = "no";
  while (end === "no") {
    const decision = unwrap(policy.act(obs.at(-1) ?? first, { explore: false, actorContext: visit.context }));
    const action = decision.action.map((value) => {
      const noisy = visit.noise > 0 ? value + visit.noise * noise.normal() : value;
      return Math.min(Math.max(noisy, -1), 1);
    });
    const step = env.step(action);
    actions.push(action);
    rewards.push(step.reward);
    obs.push(step.obs.slice());
    end = step.end;
  }
  return {
    steps: actions.length,
    obs: joined(obs),
    actions: joined(actions),
    rewards: Float32Array.from(rewards),
    end,
  };
}

function joined(rows: readonly Float32Array[]): Float32Array {
  const width = rows[0]?.length ?? 0;
  const whole = new Float32Array(rows.length * width);
  for (const [i, row] of rows.entries()) whole.set(row, i * width);
  return whole;
}
