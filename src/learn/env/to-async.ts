/**
 * A world in this thread, seen as one far away: lets code written for `AsyncEnv` run against a simulator and its tests.
 * A call that finds its signal aborted does nothing to the world.
 */

import type { AsyncEnv, Env, Waiting } from "./contract.ts";

export function toAsync<Obs, Action>(env: Env<Obs, Action>): AsyncEnv<Obs, Action> {
  const soon = async <T>(call: () => T, { signal }: Waiting = {}): Promise<T> => {
    signal?.throwIfAborted();
    return call();
  };
  return {
    spec: env.spec,
    observationSpace: env.observationSpace,
    actionSpace: env.actionSpace,
    reset: (request, waiting) => soon(() => env.reset(request), waiting),
    step: (action, waiting) => soon(() => env.step(action), waiting),
    close: () => soon(() => env.close()),
  };
}
