/** PPO and DQN on CartPole-v1, next to CleanRL's and the RL zoo's figures. */

import { rlStudy } from "./rl-training.ts";

export const rlCartPole = rlStudy({
  id: "rl-cartpole",
  title: "CartPole-v1 with PPO and DQN",
  about:
    "The pole on the cart, solved at 475 of 500: when that is first reached, and whether the last policy still has it. CleanRL reports the last episodes of 500,000 steps of training, over three seeds; the RL zoo one trained agent after 100,000 (PPO) and 50,000 (DQN) steps, which scores 500 in both cases. Ours is the last policy after 100,000 steps, over 100 episodes per seed; a seed that reached 475 and fell in its last steps stays in that figure. DQN is not the plain algorithm: it uses double estimates, an annealed learning rate and, to act by, averaged weights. Its settings were chosen on seeds from 1000 on, after earlier ones had failed the claim on the last policy on seeds 1 to 10 (the first with 500 [413.7, 500]; the present ones gave 500 [455.8, 500] there). The reported seeds were run once, afterwards.",
  envId: "CartPole-v1",
  units: [
    {
      name: "ppo",
      title: "PPO",
      published: {
        low: 490.04,
        high: 500,
        unit: "return",
        where: "CleanRL docs, ppo.py: 490.04 ± 6.12; RL zoo benchmark.md: 500",
      },
      atLeast: 475,
      reachedWithin: 100_000,
      quickSteps: 50_000,
    },
    {
      name: "dqn",
      title: "DQN",
      published: {
        low: 488.69,
        high: 500,
        unit: "return",
        where: "CleanRL docs, dqn.py: 488.69 ± 16.11; RL zoo benchmark.md: 500",
      },
      atLeast: 475,
      reachedWithin: 100_000,
      quickSteps: 50_000,
    },
  ],
});
