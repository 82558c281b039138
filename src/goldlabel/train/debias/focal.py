"""Focal-style reweighting: pairs count the less, the surer the bias model is of their label.

    L = mean (1 − p_y)^γ CE(z, y)

``p_y`` is the bias's probability of the gold label (debiased focal loss, Mahabadi et al. 2020); of several bias models
the mean (``aggregate=mean``) or the product (``aggregate=multiply``) counts. With ``weights=self`` it is the model's
own, without a gradient, and the sum is divided by that of the weights: the focal loss (Lin et al. 2017) as Utama et al.
(2020) released it for unknown biases. No bias model is needed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn import functional

from goldlabel.models.options import OneOf, Positive
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import Material, Method, label_probability
from goldlabel.train.debias.weighting import weighted_mean


def debiased_focal_loss(
    logits: Tensor, biases: Sequence[Tensor], labels: Tensor, gamma: float, aggregate: str = "mean"
) -> Tensor:
    """Return the mean of losses weighted by what the bias models leave open."""
    sure = torch.stack([label_probability(bias, labels) for bias in biases])
    together = sure.prod(dim=0) if aggregate == "multiply" else sure.mean(dim=0)
    return ((1 - together) ** gamma * functional.cross_entropy(logits, labels, reduction="none")).mean()


def self_focal_loss(logits: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """Return the losses weighted by what the model itself leaves open, over the sum of these weights."""
    weights = (1 - label_probability(logits.detach(), labels)) ** gamma
    return weighted_mean(functional.cross_entropy(logits, labels, reduction="none"), weights)


class Focal(Method):
    """Losses weighted by what a bias model, or the model itself, leaves open."""

    def __init__(
        self,
        material: Material,
        *,
        gamma: Positive = 2.0,
        aggregate: Annotated[str, OneOf(("mean", "multiply"))] = "mean",
        weights: Annotated[str, OneOf(("bias", "self"))] = "bias",
    ) -> None:
        super().__init__(material)
        self.gamma, self.aggregate, self.weights = gamma, aggregate, weights

    @classmethod
    def usual_bias(cls, options: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Take a bias model, unless weights come from the model itself."""
        return None if options.get("weights") == "self" else super().usual_bias(options)

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the weighted loss."""
        if self.weights == "self":
            return self_focal_loss(outputs.logits, labels, self.gamma)
        return debiased_focal_loss(outputs.logits, self.biases(rows), labels, self.gamma, self.aggregate)
