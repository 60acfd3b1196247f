"""PPO minibatch update on CartPole's sizes: actor 4-64-64-2, critic 4-64-64-1, tanh, minibatches of 64.

The loss is CleanRL's: advantages normalised per minibatch, clipped policy and value losses, entropy bonus, gradients
clipped to a global norm, one Adam over both networks. The fixture holds 2048 transitions and the order of minibatches.
"""

import numpy as np
import torch
from torch import nn

from torch_nets import Reader, flat, mlp

ROLLOUT, MINIBATCH = 2048, 64
CLIP, ENTROPY, VALUE, MAX_NORM, RATE, EPSILON = 0.2, 0.01, 0.5, 0.5, 2.5e-4, 1e-5


class Ppo:
    def __init__(self, data: torch.Tensor, compiled: bool):
        reader = Reader(data)
        self.actor = mlp([4, 64, 64, 2], nn.Tanh, None, reader)
        self.critic = mlp([4, 64, 64, 1], nn.Tanh, None, reader)
        self.states = reader.take(ROLLOUT, 4)
        self.actions = reader.take(ROLLOUT).long()
        self.old_log_probs, self.advantages = reader.take(ROLLOUT), reader.take(ROLLOUT)
        self.returns, self.old_values = reader.take(ROLLOUT), reader.take(ROLLOUT)
        self.order = torch.arange(ROLLOUT)
        self.params = list(self.actor.parameters()) + list(self.critic.parameters())
        self.adam = torch.optim.Adam(self.params, lr=RATE, eps=EPSILON, fused=True)
        self.loss = torch.compile(self.objective) if compiled else self.objective
        self.count = 0

    def objective(self, states, actions, old_log_probs, advantages, returns, old_values):
        # The categorical distribution written out: the same numbers as torch.distributions, without its checks.
        log_probs = torch.log_softmax(self.actor(states), 1)
        chosen = log_probs.gather(1, actions[:, None])[:, 0]
        entropy = -(log_probs.exp() * log_probs).sum(1)
        values = self.critic(states)[:, 0]
        ratio = (chosen - old_log_probs).exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy = torch.max(-advantages * ratio, -advantages * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)).mean()
        clipped = old_values + torch.clamp(values - old_values, -CLIP, CLIP)
        value = 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean()
        return policy - ENTROPY * entropy.mean() + VALUE * value

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            start = self.count % (ROLLOUT // MINIBATCH) * MINIBATCH
            rows = self.order[start : start + MINIBATCH]
            self.count += 1
            loss = self.loss(
                self.states[rows], self.actions[rows], self.old_log_probs[rows],
                self.advantages[rows], self.returns[rows], self.old_values[rows],
            )
            self.adam.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.params, MAX_NORM)
            self.adam.step()

    def answer(self) -> np.ndarray:
        return np.concatenate([flat(self.actor), flat(self.critic)])
