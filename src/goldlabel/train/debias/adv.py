"""ADV: a hypothesis-only classifier whose gradient reaches the encoder reversed (Belinkov et al. 2019, method 1).

    L = CE(z, y) + β CE(c(r(v)), y)

``v`` is the vector of the hypothesis alone, ``c`` the classifier, and ``r`` hands ``v`` through and turns the gradient
into −α times itself: the classifier learns with weight β to tell the label, the encoder with weight αβ to keep it
from doing so. The premise's vector is not touched; where both sides share an encoder, as in a siamese network, the
reversed gradient moves what encodes premises, too, which the paper's two encoders avoid.

As in the released code, the classifier is three linear layers with nothing between them. That code sums over the batch
in the torch of its time; here it is the mean, as in every objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.options import Positive
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import Material, Method

WIDTH = 512


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return vectors.view_as(vectors)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return -ctx.strength * gradient, None


def reverse_gradient(vectors: Tensor, strength: float) -> Tensor:
    """Return the vectors; their gradient is the one that comes back, times ``-strength``."""
    reversed_vectors: Tensor = _Reversal.apply(vectors, strength)  # type: ignore[no-untyped-call]
    return reversed_vectors


class Adversarial(Method):
    """A classifier of the hypothesis that the encoder is trained against."""

    sides: ClassVar[bool] = True

    def __init__(self, material: Material, *, alpha: Positive = 1.0, beta: Positive = 0.5) -> None:
        super().__init__(material)
        self.alpha, self.beta = alpha, beta
        self.classifier = nn.Sequential(
            nn.Linear(material.side, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, material.classes)
        )

    @classmethod
    def usual_bias(cls, options: Mapping[str, Any]) -> None:
        """Take none: the bias model is trained along."""
        return

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return both classifiers' losses."""
        assert outputs.hypothesis is not None
        scores = self.classifier(reverse_gradient(outputs.hypothesis, self.alpha))
        return functional.cross_entropy(outputs.logits, labels) + self.beta * functional.cross_entropy(scores, labels)
