"""Networks from the flat parameter blocks of the fixtures, and back."""

import numpy as np
import torch
from torch import nn


class Reader:
    """Takes blocks from the front of a flat tensor."""

    def __init__(self, data: torch.Tensor):
        self.data, self.at = data, 0

    def take(self, *shape: int) -> torch.Tensor:
        count = int(np.prod(shape))
        block = self.data[self.at : self.at + count].reshape(shape).clone()
        self.at += count
        return block


def mlp(widths: list[int], hidden: type[nn.Module], last: type[nn.Module] | None, reader: Reader) -> nn.Sequential:
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(zip(widths[:-1], widths[1:])):
        linear = nn.Linear(inputs, outputs)
        with torch.no_grad():
            linear.weight.copy_(reader.take(inputs, outputs).T)
            linear.bias.copy_(reader.take(outputs))
        layers.append(linear)
        if index < len(widths) - 2:
            layers.append(hidden())
        elif last is not None:
            layers.append(last())
    return nn.Sequential(*layers)


def flat(net: nn.Sequential) -> np.ndarray:
    blocks = []
    for layer in net:
        if isinstance(layer, nn.Linear):
            blocks += [layer.weight.detach().T.reshape(-1), layer.bias.detach()]
    return torch.cat(blocks).numpy()
