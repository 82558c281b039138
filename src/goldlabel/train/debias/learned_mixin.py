"""Learned-Mixin: how much the bias counts in the product is learnt for each pair (Clark et al. 2019).

    L = CE(log softmax(z) + Σ g b, y),  g = softplus(w · h + c)

``h`` is the model's last hidden vector, ``b`` a bias model's log-probabilities; each bias model has its own ``w`` and
``c``. What is tested is ``z`` alone.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.drift import product_loss
from goldlabel.train.debias.method import Material, Method


class LearnedMixin(Method):
    """A product of the model and frozen bias models that are trusted as much as each pair deserves."""

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self.mixin = nn.Linear(material.features, len(material.biases))

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of the model and the weighted bias together."""
        return product_loss(outputs.logits, self.weighted(outputs, rows), labels)

    def weighted(self, outputs: Outputs, rows: Tensor) -> list[Tensor]:
        """Return the log-probabilities of each bias model, times what it counts for each row."""
        gains = functional.softplus(self.mixin(outputs.hidden))
        return [gains[:, number, None] * bias for number, bias in enumerate(self.biases(rows))]
