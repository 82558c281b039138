"""Learned-Mixin+H: a penalty keeps the model from learning to leave the bias out (Clark et al. 2019).

    L = Learned-Mixin's + w H(softmax(Σ g b))

The entropy ``H``, a mean over the batch, is low where the weighted bias is sure, so ``g`` does not fade to 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from goldlabel.models.options import Positive
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.drift import product_loss
from goldlabel.train.debias.learned_mixin import LearnedMixin
from goldlabel.train.debias.method import Material


def entropy(scores: Tensor) -> Tensor:
    """Return the mean entropy of the distributions that scores give."""
    logs = scores.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1).mean()


class LearnedMixinH(LearnedMixin):
    """Learned-Mixin with a penalty on the entropy of the weighted bias."""

    def __init__(self, material: Material, *, w: Positive = 0.03) -> None:
        super().__init__(material)
        self.w = w

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of the model and the weighted bias together, and the penalty."""
        weighted = self.weighted(outputs, rows)
        return product_loss(outputs.logits, weighted, labels) + self.w * entropy(torch.stack(weighted).sum(dim=0))
