/** PPO and DQN on Acrobot-v1, next to CleanRL's and the RL zoo's figures. */

import { rlStudy } from "./rl-training.ts";

export const rlAcrobot = rlStudy({
  id: "rl-acrobot",
  title: "Acrobot-v1 with PPO and DQN",
  about:
    "Swing the tip of a two-link arm above a line; every step costs 1. CleanRL reports the last episodes of 500,000 steps of training, over three seeds, and is what the claim asks for. The RL zoo reports one trained agent (PPO after 1,000,000 steps, DQN after 100,000), with a standard deviation of 12 to 18 between episodes. Ours is the last policy after 500,000 (PPO) and 100,000 (DQN) steps, over 100 episodes per seed. Settings were chosen on seeds from 1000 on; the reported seeds were run once.",
  envId: "Acrobot-v1",
  units: [
    {
      name: "ppo",
      title: "PPO",
      published: {
        low: -86.36,
        high: -73.51,
        unit: "return",
        where: "CleanRL docs, ppo.py: −86.36 ± 1.32; RL zoo benchmark.md: −73.51",
      },
      atLeast: -86.36,
      quickSteps: 81_920,
    },
    {
      name: "dqn",
      title: "DQN",
      published: {
        low: -91.54,
        high: -76.64,
        unit: "return",
        where: "CleanRL docs, dqn.py: −91.54 ± 7.20; RL zoo benchmark.md: −76.64",
      },
      atLeast: -91.54,
      quickSteps: 30_000,
    },
  ],
});
