"""Objectives: what a forward pass, the rows of its batch and their labels give as the loss to minimise.

An objective may own parameters, which are trained with the model's, and state, which checkpoints keep. What it knows
of each pair (the probabilities of a biased model, a weight) it keeps in buffers over the rows of the training data.
Debiasing methods are objectives; plain cross-entropy is the one of a model that is just trained.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from goldlabel.models.torch_model import Outputs


class Objective(nn.Module, ABC):
    """A loss. It is part of a captured step: it must not wait for the device, nor shape anything by its values."""

    sides: ClassVar[bool] = False
    """Whether it needs the vectors of the two sides."""

    @abstractmethod
    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the mean loss of a batch, given its rows in the training data and their labels."""

    def draw(self, rows: NDArray[np.int64], seed: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows of one epoch; by default all of them."""
        return rows


class CrossEntropy(Objective):
    """The mean of the negative log-probabilities of the gold labels."""

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy."""
        return functional.cross_entropy(outputs.logits, labels)
