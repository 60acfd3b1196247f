"""The meta learner: bidirectional GRU of 2 x 256 over 100 steps, mean over 20 trajectories, dense 256 and 64."""

import numpy as np
import torch
from torch import nn

from torch_nets import Reader, mlp

INPUT, HIDDEN, LAYERS, DENSE, EMBEDDING = 17, 256, 2, 256, 64
STEPS, BUNDLE, OBSERVATION, ACTIONS, POLICY = 100, 20, 13, 3, 64
RATE, LONGEST = 3e-4, 1.0


class Meta:
    """What all tasks start from: the networks, 20 trajectories, the gradient of an embedding."""

    def __init__(self, data: torch.Tensor, compiled: bool):
        if compiled:
            raise NotImplementedError("nn.GRU is one fused operation; torch.compile leaves it as it is")
        reader = Reader(data)
        self.gru = nn.GRU(INPUT, HIDDEN, LAYERS, bidirectional=True)
        with torch.no_grad():
            for names in self.gru._all_weights:
                # weight_ih, weight_hh, bias_ih, bias_hh; the fixture has W, b, U, c
                w_ih, w_hh, b_ih, b_hh = (getattr(self.gru, name) for name in names)
                w_ih.copy_(reader.take(w_ih.shape[1], 3 * HIDDEN).T)
                b_ih.copy_(reader.take(3 * HIDDEN))
                w_hh.copy_(reader.take(HIDDEN, 3 * HIDDEN).T)
                b_hh.copy_(reader.take(3 * HIDDEN))
        self.dense = mlp([2 * HIDDEN, DENSE, EMBEDDING], nn.ReLU, None, reader)
        # [bundle, steps, input] in the fixture; the GRU reads [steps, bundle, input]
        self.bundle = reader.take(BUNDLE, STEPS, INPUT).transpose(0, 1).contiguous()
        self.gradient = reader.take(EMBEDDING)

    def summaries(self, trajectories: torch.Tensor) -> torch.Tensor:
        _, last = self.gru(trajectories)
        return torch.cat([last[-2], last[-1]], 1)

    def embed(self, summaries: torch.Tensor) -> torch.Tensor:
        return self.dense(summaries.mean(0))


class MetaTrajectory(Meta):
    """One more trajectory: its summary takes the place of another one, and the embedding is computed anew."""

    def __init__(self, data: torch.Tensor, compiled: bool):
        super().__init__(data, compiled)
        with torch.inference_mode():
            self.cached = self.summaries(self.bundle).clone()
        self.one = [self.bundle[:, i : i + 1].contiguous() for i in range(BUNDLE)]

    @torch.inference_mode()
    def run(self, iterations: int) -> None:
        for i in range(iterations):
            self.cached[i % BUNDLE] = self.summaries(self.one[i % BUNDLE])[0]
            self.embed(self.cached)


class MetaBundle(Meta):
    """A whole bundle, read anew."""

    @torch.inference_mode()
    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.embedding = self.embed(self.summaries(self.bundle))

    def answer(self) -> np.ndarray:
        return self.embedding.numpy()


class MetaPass(Meta):
    """One environment's training pass, and the step."""

    def __init__(self, data: torch.Tensor, compiled: bool):
        super().__init__(data, compiled)
        self.params = list(self.gru.parameters()) + list(self.dense.parameters())
        self.adam = torch.optim.Adam(self.params, lr=RATE, fused=True)

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.adam.zero_grad(set_to_none=True)
            self.embed(self.summaries(self.bundle)).backward(self.gradient)
            nn.utils.clip_grad_norm_(self.params, LONGEST, foreach=True)
            self.adam.step()

    @torch.inference_mode()
    def answer(self) -> np.ndarray:
        return self.embed(self.summaries(self.bundle)).numpy()


class MetaDecide:
    """A decision with the current embedding. Which numbers are in the network does not matter for its time."""

    def __init__(self, data: torch.Tensor, compiled: bool):
        widths = [OBSERVATION + EMBEDDING, POLICY, POLICY, ACTIONS]
        actor = nn.Sequential(
            nn.Linear(*widths[0:2]), nn.ReLU(), nn.Linear(*widths[1:3]), nn.ReLU(), nn.Linear(*widths[2:4]), nn.Tanh()
        ).eval()
        self.input = torch.zeros(1, widths[0])
        self.view = self.input.numpy()
        self.view[0, OBSERVATION:] = 0.1
        self.seen = data[: 256 * OBSERVATION].reshape(256, OBSERVATION).numpy()
        traced = torch.jit.trace(actor, self.input)
        self.act = torch.compile(actor) if compiled else torch.jit.optimize_for_inference(torch.jit.freeze(traced))

    @torch.inference_mode()
    def run(self, iterations: int) -> None:
        for i in range(iterations):
            self.view[0, :OBSERVATION] = self.seen[i % 256]
            self.act(self.input)[0, 0].item()
