"""DDPG update and batch-1 inference: state 8, action 5, hidden 64x64, batch 64."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from torch_nets import Reader, flat, mlp

GAMMA, TAU, RATE, BATCH = 0.99, 0.005, 1e-3, 64


class Ddpg:
    def __init__(self, data: torch.Tensor, compiled: bool):
        reader = Reader(data)
        self.actor = mlp([8, 64, 64, 5], nn.ReLU, nn.Tanh, reader)
        self.critic = mlp([13, 64, 64, 1], nn.ReLU, None, reader)
        self.actor_target = copy.deepcopy(self.actor).requires_grad_(False)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.states, self.actions = reader.take(BATCH, 8), reader.take(BATCH, 5)
        self.rewards, self.next_states, self.ended = reader.take(BATCH, 1), reader.take(BATCH, 8), reader.take(BATCH, 1)
        self.actor_params, self.critic_params = list(self.actor.parameters()), list(self.critic.parameters())
        # fused: one kernel per parameter list instead of a dozen small operations per parameter
        self.actor_adam = torch.optim.Adam(self.actor_params, lr=RATE, fused=True)
        self.critic_adam = torch.optim.Adam(self.critic_params, lr=RATE, fused=True)
        self.targets = list(self.actor_target.parameters()) + list(self.critic_target.parameters())
        self.sources = self.actor_params + self.critic_params
        self.critic_loss, self.actor_loss = self.critic_objective, self.actor_objective
        if compiled:
            self.critic_loss = torch.compile(self.critic_objective)
            self.actor_loss = torch.compile(self.actor_objective)

    def critic_objective(self):
        with torch.no_grad():
            future = self.critic_target(torch.cat([self.next_states, self.actor_target(self.next_states)], 1))
            wanted = self.rewards + GAMMA * (1 - self.ended) * future
        return F.mse_loss(self.critic(torch.cat([self.states, self.actions], 1)), wanted)

    def actor_objective(self):
        return -self.critic(torch.cat([self.states, self.actor(self.states)], 1)).mean()

    def update(self):
        # torch.autograd.grad asks for exactly the gradients that are used; loss.backward() would also fill the critic's.
        for parameter, gradient in zip(self.critic_params, torch.autograd.grad(self.critic_loss(), self.critic_params)):
            parameter.grad = gradient
        self.critic_adam.step()
        for parameter, gradient in zip(self.actor_params, torch.autograd.grad(self.actor_loss(), self.actor_params)):
            parameter.grad = gradient
        self.actor_adam.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.targets, self.sources, TAU)

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.update()

    def answer(self) -> np.ndarray:
        return np.concatenate([flat(n) for n in (self.actor, self.critic, self.actor_target, self.critic_target)])


class Inference:
    def __init__(self, data: torch.Tensor, compiled: bool):
        reader = Reader(data)
        self.actor = mlp([8, 64, 64, 5], nn.ReLU, nn.Tanh, reader)
        mlp([13, 64, 64, 1], nn.ReLU, None, reader)
        self.states = reader.take(BATCH, 8).numpy()
        self.observation = torch.zeros(1, 8)
        self.view = self.observation.numpy()
        if compiled:
            self.act = torch.compile(self.actor)
        else:
            # A traced and frozen graph: the usual way to serve a small policy without Python in every layer.
            self.actor.eval()
            traced = torch.jit.trace(self.actor, self.observation)
            self.act = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

    @torch.inference_mode()
    def run(self, iterations: int) -> None:
        for i in range(iterations):
            self.view[0] = self.states[i % BATCH]
            self.act(self.observation)[0, 0].item()

    @torch.inference_mode()
    def answer(self) -> np.ndarray:
        actions = []
        for state in self.states:
            self.view[0] = state
            actions.append(self.act(self.observation)[0].numpy().copy())
        return np.concatenate(actions)
