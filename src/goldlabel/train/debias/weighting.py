"""Weighting: pairs count so much that the bias tells nothing of the label any more (Zhang et al. 2019).

    weight = 1 / P(S = y),  P(S = l) = (p_l / π_l) / Σ_k (p_k / π_k)

``p`` are a bias model's probabilities, out of fold and smoothed, p ← (p + s) / (1 + k s) over ``k`` labels. The prior
``π`` is the one under which labels weigh as much as they are frequent. With M_lk = Σ_{y = l} p_k / p_l and n_l pairs of
label l, their weights add up to Σ_k M_lk π_l / π_k, so that 1/π is the positive eigenvector of M_lk / n_l (Perron and
Frobenius: it exists and is the only one); the released code halves intervals and knows two labels.

Weights are scaled to mean 1. ``mode=weights`` multiplies each pair's loss; ``mode=prob`` draws the pairs of each epoch
in proportion to them, with replacement, as that author's command does. ``rule=clark`` is the reweighting of Clark et
al. (2019) instead: 1 − p_y, divided by its sum over the batch. The mean of several bias models' probabilities counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from goldlabel.models.options import Bounds, OneOf
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import Material, Method, mean_probabilities
from goldlabel.train.debias.neutral_weights import SMOOTH, neutral_weights

DRAWN = 0xD3A3
"""Tells the draws of rows from what else the seed of an epoch decides."""


def weighted_mean(losses: Tensor, weights: Tensor) -> Tensor:
    """Return the mean of losses by their weights; 0 where none weighs anything."""
    return (weights * losses).sum() / weights.sum().clamp(min=torch.finfo(losses.dtype).tiny)


class Weighting(Method):
    """Weights, or draws, that make labels independent of the bias."""

    def __init__(
        self,
        material: Material,
        *,
        smooth: Annotated[float, Bounds(least=0)] = SMOOTH,
        rule: Annotated[str, OneOf(("neutral", "clark"))] = "neutral",
        mode: Annotated[str, OneOf(("weights", "prob"))] = "weights",
    ) -> None:
        super().__init__(material)
        self.rule, self.mode = rule, mode
        rows = torch.from_numpy(material.rows)
        bias, labels = mean_probabilities([bias[rows].double() for bias in material.biases]), material.labels[rows]
        if rule == "clark":
            weights = (1 - bias.gather(1, labels[:, None]).squeeze(1)).numpy()
        else:
            weights = neutral_weights(bias.numpy(), labels.numpy(), smooth)[0]
        weights /= weights.mean()
        of_rows = torch.zeros(len(material.labels), dtype=material.biases[0].dtype)
        of_rows[rows] = torch.from_numpy(weights).to(of_rows)
        self.register_buffer("weights", of_rows, persistent=False)

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the mean of the weighted losses, or of all alike where rows were drawn by their weights."""
        if self.mode == "prob":
            return functional.cross_entropy(outputs.logits, labels)
        losses = functional.cross_entropy(outputs.logits, labels, reduction="none")
        weights = self.get_buffer("weights")[rows]
        return weighted_mean(losses, weights) if self.rule == "clark" else (weights * losses).mean()

    def draw(self, rows: NDArray[np.int64], seed: Sequence[int]) -> NDArray[np.int64]:
        """Draw as many rows by their weights, where that is asked for."""
        if self.mode == "weights":
            return rows
        weights = self.get_buffer("weights").cpu().double().numpy()[rows]
        random = np.random.Generator(np.random.PCG64([*seed, DRAWN]))
        return random.choice(rows, len(rows), p=weights / weights.sum())
