/** DDPG and TD3 on Pendulum-v1, next to the RL zoo's figures. */

import { rlStudy } from "./rl-training.ts";

export const rlPendulum = rlStudy({
  id: "rl-pendulum",
  title: "Pendulum-v1 with DDPG and TD3",
  about:
    "Swing up a pendulum and hold it. The RL zoo reports one trained agent after 20,000 steps, over 750 episodes, with a standard deviation of about 90 between episodes. Ours is the last policy after 30,000 steps, over 100 episodes per seed. Settings were chosen on seeds from 1000 on; the reported seeds were run once.",
  envId: "Pendulum-v1",
  units: [
    {
      name: "ddpg",
      title: "DDPG",
      published: { low: -152.1, high: -152.1, unit: "return", where: "RL zoo benchmark.md, ddpg" },
      atLeast: -200,
      reachedWithin: 30_000,
      quickSteps: 10_000,
    },
    {
      name: "td3",
      title: "TD3",
      published: { low: -151.86, high: -151.86, unit: "return", where: "RL zoo benchmark.md, td3" },
      atLeast: -200,
      reachedWithin: 30_000,
      quickSteps: 15_000,
    },
  ],
});
