"""Linear layers in whole numbers of 8 bits, for scoring on a processor.

Weights are rounded once, with one scale for each output; what a layer reads is rounded when it comes, with one scale
for each token (Yao et al. 2022, ZeroQuant, section 3: "token-wise quantization"). So a pair's scores do not depend on
the pairs that happen to stand in its batch, which one scale for a whole batch would bring about.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

LARGEST = 127
SMALLEST_SCALE = 1e-12
"""Of a row of zeros."""


class Int8Linear(nn.Module):
    """A linear layer whose product is taken in whole numbers."""

    weight: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        rounded, scale = round_rows(weight)
        self.register_buffer("weight", rounded.t().contiguous())
        self.register_buffer("scale", scale[:, 0])
        self.register_buffer("bias", weight.new_zeros(len(weight)) if linear.bias is None else linear.bias.detach())

    def forward(self, states: Tensor) -> Tensor:
        """Round each token's vector, multiply, and scale back."""
        rounded, scale = round_rows(states.reshape(-1, states.shape[-1]))
        product = torch._int_mm(rounded, self.weight) * scale
        return torch.addcmul(self.bias, product, self.scale).view(*states.shape[:-1], -1)


def round_rows(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return a matrix in whole numbers from -127 to 127, and the scale of each row."""
    scale = values.abs().amax(dim=1, keepdim=True).clamp_(min=SMALLEST_SCALE).div_(LARGEST)
    return (values / scale).round_().to(torch.int8), scale


def use_int8(network: nn.Module, keep: nn.Module) -> None:
    """Put such a layer in the place of every linear layer but ``keep``, the one that scores the labels."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and child is not keep:
                setattr(module, name, Int8Linear(child))
