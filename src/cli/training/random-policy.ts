/** The policy that knows nothing: what any learner must beat. */

import { seededRng } from "../../base/index.ts";
import { type EnvConfig, makeEnv } from "../../learn/env/index.ts";

export interface RandomPolicyOptions {
  readonly envId: string;
  readonly envConfig?: EnvConfig;
  readonly episodes: number;
  readonly seed: number;
}

/** Returns of whole episodes with uniformly random actions. */
export function randomReturns({ envId, envConfig = {}, episodes, seed }: RandomPolicyOptions): readonly number[] {
  const env = makeEnv(envId, { config: envConfig });
  const rng = seededRng(seed).fork("random policy");
  const returns: number[] = [];
  for (let episode = 0; episode < episodes; episode++) {
    env.reset({ seed: rng.int(2 ** 31) });
    let total = 0;
    for (let end = "no"; end === "no"; ) {
      const step = env.step(env.actionSpace.sample(rng));
      total += step.reward;
      end = step.end;
    }
    returns.push(total);
  }
  env.close();
  return returns;
}
