/** DDPG and TD3 with Ornstein–Uhlenbeck noise on MountainCarContinuous-v0, next to the RL zoo's figures. */

import { rlStudy } from "./rl-training.ts";

export const rlMountainCar = rlStudy({
  id: "rl-mountaincar",
  title: "MountainCarContinuous-v0 with DDPG and TD3",
  about:
    "A car too weak for the hill must swing back and forth; the only reward is at the top, so it is a test of exploration. The task counts as solved at 90. The RL zoo reports one trained agent after 300,000 steps. Ours is the last policy after 60,000 (DDPG) and 100,000 (TD3) steps, over 100 episodes per seed. TD3's noise was raised once after a run on these seeds had shown that it does not find the top; the value was chosen on other seeds.",
  envId: "MountainCarContinuous-v0",
  units: [
    {
      name: "ddpg",
      title: "DDPG",
      published: { low: 93.51, high: 93.51, unit: "return", where: "RL zoo benchmark.md, ddpg" },
      atLeast: 90,
      quickSteps: 20_000,
    },
    {
      name: "td3",
      title: "TD3",
      published: { low: 93.48, high: 93.48, unit: "return", where: "RL zoo benchmark.md, td3" },
      atLeast: 90,
      quickSteps: 20_000,
    },
  ],
});
