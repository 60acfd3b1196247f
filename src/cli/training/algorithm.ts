/** From the settings of a training to the algorithm that rl knows. TD3 is DDPG with other options. */

import { type Algorithm, algorithmNames, learnerKinds } from "../../learn/rl/index.ts";
import type { TrainConfig } from "../config/index.ts";
import { usageError } from "../failures.ts";
import { didYouMean } from "../suggest.ts";

export function algorithmOf(config: Pick<TrainConfig, "algo" | "ppo" | "dqn" | "ddpg" | "td3" | "learner">): Algorithm {
  switch (config.algo) {
    case "ppo":
      return { kind: "ppo", config: config.ppo };
    case "dqn":
      return { kind: "dqn", config: config.dqn };
    case "ddpg":
      return { kind: "ddpg", config: config.ddpg };
    case "td3":
      return { kind: "ddpg", config: config.td3 };
    default:
      return ownLearner(config.algo, config.learner);
  }
}

function ownLearner(name: string, config: TrainConfig["learner"]): Algorithm {
  if (learnerKinds().includes(name)) return { kind: "registered", name, config };
  const known = [...algorithmNames, ...learnerKinds()];
  throw usageError(
    `there is no learner '${name}'${didYouMean(name, known) || `; known are ${known.join(", ")}`}`,
    "a learner of your own comes from a module: --module my-learner.js",
  );
}
