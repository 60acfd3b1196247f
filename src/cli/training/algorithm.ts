/** From the settings of a training to the algorithm that rl knows. TD3 is DDPG with other options. */

import type { Algorithm } from "../../learn/rl/index.ts";
import type { TrainConfig } from "../config/index.ts";

export function algorithmOf(config: Pick<TrainConfig, "algo" | "ppo" | "dqn" | "ddpg" | "td3">): Algorithm {
  switch (config.algo) {
    case "ppo":
      return { kind: "ppo", config: config.ppo };
    case "dqn":
      return { kind: "dqn", config: config.dqn };
    case "ddpg":
      return { kind: "ddpg", config: config.ddpg };
    case "td3":
      return { kind: "ddpg", config: config.td3 };
  }
}
