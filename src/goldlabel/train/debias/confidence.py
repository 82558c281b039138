"""Confidence regularisation: a student learns its teacher's probabilities, the less sharp the surer the bias is.

    L = −Σ_l t_l log softmax(z)_l,  t ∝ teacher^(1 − p_y)

``p_y`` is what the bias model gives the gold label (Utama et al. 2020). Where the bias is sure and right, the target is
nearly uniform; where it is wrong, it is the teacher's own distribution. The teacher is the same model, trained first on
the same pairs by plain cross-entropy; as in the released code it scores the pairs that it was trained on. The mean of
several bias models' probabilities counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import First, Material, Method, mean_probabilities


def distillation_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy to distributions."""
    return -(targets * logits.log_softmax(dim=1)).sum(dim=1).mean()


def smooth_targets(teacher: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
    """Return the teacher's distribution to the power of 1 minus the bias's probability of the label, normalised.

    The power 0 of the probability 0 is 1: where the bias is sure and right, the target is uniform.
    """
    powers = teacher ** (1 - bias.gather(1, labels[:, None]))
    return powers / powers.sum(dim=1, keepdim=True)


class Confidence(Method):
    """Self-distillation with targets smoothed where the bias is sure and right."""

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        assert material.first is not None
        targets = smooth_targets(material.first, mean_probabilities(material.biases), material.labels)
        self.register_buffer("targets", targets, persistent=False)

    @classmethod
    def first_model(cls, options: Mapping[str, Any], biases: Sequence[str]) -> First:
        """Ask for the teacher."""
        return First()

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the distance from the smoothed teacher."""
        return distillation_loss(outputs.logits, self.get_buffer("targets")[rows])
