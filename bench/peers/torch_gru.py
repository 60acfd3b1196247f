"""Bidirectional GRU: 2 layers x 256, 100 steps, batch 20, input 32, forward and backward."""

import numpy as np
import torch
from torch import nn

from torch_nets import Reader

INPUT, HIDDEN, STEPS, BATCH, LAYERS = 32, 256, 100, 20, 2


class Gru:
    def __init__(self, data: torch.Tensor, compiled: bool):
        if compiled:
            raise NotImplementedError("nn.GRU is one fused operation; torch.compile leaves it as it is")
        reader = Reader(data)
        self.net = nn.GRU(INPUT, HIDDEN, LAYERS, bidirectional=True)
        with torch.no_grad():
            for names in self.net._all_weights:
                # weight_ih, weight_hh, bias_ih, bias_hh; the fixture has W, b, U, c
                w_ih, w_hh, b_ih, b_hh = (getattr(self.net, name) for name in names)
                w_ih.copy_(reader.take(w_ih.shape[1], 3 * HIDDEN).T)
                b_ih.copy_(reader.take(3 * HIDDEN))
                w_hh.copy_(reader.take(HIDDEN, 3 * HIDDEN).T)
                b_hh.copy_(reader.take(3 * HIDDEN))
        self.input = reader.take(STEPS, BATCH, INPUT)
        self.gradient = reader.take(STEPS, BATCH, 2 * HIDDEN)
        self.output = None

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.net.zero_grad(set_to_none=True)
            self.output, _ = self.net(self.input)
            self.output.backward(self.gradient)

    def answer(self) -> np.ndarray:
        blocks = [self.output.detach().reshape(-1)]
        for names in self.net._all_weights:
            w_ih, w_hh, b_ih, b_hh = (getattr(self.net, name).grad for name in names)
            blocks += [w_ih.T.reshape(-1), b_ih, w_hh.T.reshape(-1), b_hh]
        return torch.cat(blocks).numpy()
