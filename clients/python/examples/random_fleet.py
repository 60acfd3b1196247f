"""Steps a fleet of twelve functions with random choices that are allowed, and prints what it earned and how fast it went.

Start a host first: coxswain env serve --call-port 7072
"""

import sys
import time

import coxswain

url = sys.argv[1] if len(sys.argv) > 1 else coxswain.DEFAULT_URL
env = coxswain.parallel_env("FunctionsFleetFluid-v0", url=url, functions=12, steps=500)
observations, _ = env.reset(seed=7)
for index, agent in enumerate(env.possible_agents):
    env.action_space(agent).seed(index)

total, steps, began = 0.0, 0, time.perf_counter()
while env.agents:
    actions = {agent: env.action_space(agent).sample(observations[agent]["action_mask"]) for agent in env.agents}
    observations, rewards, _, _, _ = env.step(actions)
    total += sum(rewards.values())
    steps += 1
took = time.perf_counter() - began
env.close()
print(f"{steps} steps of {len(env.possible_agents)} agents, mean reward {total / steps / len(env.possible_agents):.3f}")
print(f"{steps / took:.0f} steps/s, {steps * len(env.possible_agents) / took:.0f} decisions/s")
