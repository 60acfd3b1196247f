/** The environments that come with the package, under their Gymnasium ids, limits and thresholds. */

import { CodedError, failure } from "../../base/index.ts";
import { acrobot } from "./classic/acrobot.ts";
import { cartPole } from "./classic/cart-pole.ts";
import { mountainCarContinuous } from "./classic/mountain-car-continuous.ts";
import { pendulum } from "./classic/pendulum.ts";
import type { Core } from "./core.ts";
import type { EnvEntry } from "./entry.ts";

export const builtinEnvs: readonly EnvEntry[] = [
  fixed({ id: "CartPole-v1", maxSteps: 500, rewardThreshold: 475 }, cartPole),
  fixed({ id: "Pendulum-v1", maxSteps: 200 }, pendulum),
  fixed({ id: "MountainCarContinuous-v0", maxSteps: 999, rewardThreshold: 90 }, mountainCarContinuous),
  fixed({ id: "Acrobot-v1", maxSteps: 500, rewardThreshold: -100 }, acrobot),
];

/** An environment without settings: what makes its results comparable is that there are none. */
function fixed(spec: Omit<EnvEntry, "core" | "env">, core: Core): EnvEntry {
  return {
    ...spec,
    core: (config) => {
      const [key] = Object.keys(config);
      if (key === undefined) return core;
      throw new CodedError(failure("env.config", `${spec.id} has no settings, found '${key}'; leave the config empty`));
    },
  };
}
