"""DRiFt, the bias product: the model learns what a frozen bias model leaves over (He et al. 2019; Clark et al. 2019).

    L = CE(log softmax(z) + s Σ b, y)

``b`` are a bias model's log-probabilities, ``s`` is 1; several bias models multiply. Where they are sure and right,
little is left to learn. What is tested, and what the dev sets judge, is ``z`` alone. (He's released code chooses the
checkpoint by the sum, which is not what it tests.) ``scale`` other than 1 is Mahabadi et al.'s (2020) weakened product.

``combine=rubi`` masks instead of multiplying: CE(z · sigmoid(b), y), Cadène et al. (2019). There the bias is a branch
of the model, here it is frozen; and it is not indifferent to a shift of ``b``, which are log-probabilities here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional

from goldlabel.models.options import OneOf, Positive
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import Material, Method


def product_loss(logits: Tensor, biases: Sequence[Tensor], labels: Tensor, scale: float = 1.0) -> Tensor:
    """Return the cross-entropy of the product of the model and the bias models."""
    return functional.cross_entropy(logits.log_softmax(dim=1) + scale * torch.stack(list(biases)).sum(dim=0), labels)


def rubi_loss(logits: Tensor, biases: Sequence[Tensor], labels: Tensor) -> Tensor:
    """Return the cross-entropy of the model masked by the bias models."""
    for bias in biases:
        logits = logits * bias.sigmoid()
    return functional.cross_entropy(logits, labels)


class DRiFt(Method):
    """A product of the model and frozen bias models."""

    def __init__(
        self,
        material: Material,
        *,
        scale: Positive = 1.0,
        combine: Annotated[str, OneOf(("product", "rubi"))] = "product",
    ) -> None:
        super().__init__(material)
        self.scale, self.combine = scale, combine

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of the model and the bias together."""
        if self.combine == "rubi":
            return rubi_loss(outputs.logits, self.biases(rows), labels)
        return product_loss(outputs.logits, self.biases(rows), labels, self.scale)
