"""What the methods share: what they are made of, and what they ask for beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from goldlabel.train.debias import USUAL
from goldlabel.train.objective import Objective


@dataclass(frozen=True, kw_only=True)
class Material:
    """The sizes of what a model gives, and what is known of each row before training begins."""

    labels: Tensor
    """The gold label's number of each row."""
    rows: NDArray[np.int64]
    """The rows that are trained on; of the others nothing is known."""
    classes: int
    features: int
    """Size of the model's last hidden vector."""
    side: int = 0
    """Size of the vector of one sentence."""
    biases: Sequence[Tensor] = ()
    """Log-probabilities of each bias model, (rows, labels)."""
    first: Tensor | None = None
    """Probabilities of the model that was trained first, (rows, labels)."""


@dataclass(frozen=True)
class First:
    """A plain model that is trained first on the same pairs."""

    epochs: int | None = None
    """So many, whatever the dev sets say; None to train and stop as the run itself does."""


class Method(Objective):
    """A debiasing objective; keyword arguments of ``__init__``, with their defaults, are the method's options."""

    def __init__(self, material: Material) -> None:
        super().__init__()
        self.bias_models = len(material.biases)
        for number, bias in enumerate(material.biases):
            self.register_buffer(f"bias_{number}", bias, persistent=False)

    def biases(self, rows: Tensor) -> list[Tensor]:
        """Return the log-probabilities that each bias model gives some rows."""
        return [self.get_buffer(f"bias_{number}")[rows] for number in range(self.bias_models)]

    @classmethod
    def usual_bias(cls, options: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the bias models that are taken where none is named; None where the method has no use for one."""
        return (USUAL,)

    @classmethod
    def first_model(cls, options: Mapping[str, Any], biases: Sequence[str]) -> First | None:
        """Return what plain model is trained first, given the options and the bias models that were named."""
        return None


def label_probability(log_probabilities: Tensor, labels: Tensor) -> Tensor:
    """Return the probability of each row's label; the scores need not be normalised."""
    return log_probabilities.softmax(dim=1).gather(1, labels[:, None]).squeeze(1)


def mean_probabilities(biases: Sequence[Tensor]) -> Tensor:
    """Return the mean of the bias models' probabilities, for methods that know one bias."""
    return torch.stack([bias.softmax(dim=1) for bias in biases]).mean(dim=0)
