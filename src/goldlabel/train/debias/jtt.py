"""Just train twice: what a model trained briefly gets wrong comes more often when it is trained again.

Liu et al. (2021): the same model is trained first for ``epochs`` epochs by plain cross-entropy. The pairs that it then
labels wrongly come ``times`` times in every epoch of the second training. Where bias models are named, the pairs that
they label wrongly (by the mean of their probabilities) are taken instead, and nothing is trained first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from goldlabel.models.options import Bounds, Count
from goldlabel.models.torch_model import Outputs
from goldlabel.train.debias.method import First, Material, Method, mean_probabilities

EPOCHS = 2


class JustTrainTwice(Method):
    """The errors of a first model come several times."""

    def __init__(
        self, material: Material, *, epochs: Count = EPOCHS, times: Annotated[int, Bounds(least=2)] = 6
    ) -> None:
        super().__init__(material)
        scores = mean_probabilities(material.biases) if material.first is None else material.first
        self.times = times
        self.errors: NDArray[np.bool_] = (scores.argmax(dim=1) != material.labels).numpy()

    @classmethod
    def usual_bias(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Take bias models where they are named, and none otherwise."""
        return ()

    @classmethod
    def first_model(cls, options: Mapping[str, Any], biases: Sequence[str]) -> First | None:
        """Ask for the model that shows what is hard, unless bias models do."""
        return None if biases else First(options.get("epochs", EPOCHS))

    def forward(self, outputs: Outputs, rows: Tensor, labels: Tensor) -> Tensor:
        """Return plain cross-entropy."""
        return functional.cross_entropy(outputs.logits, labels)

    def draw(self, rows: NDArray[np.int64], seed: Sequence[int]) -> NDArray[np.int64]:
        """Repeat the errors."""
        return np.repeat(rows, np.where(self.errors[rows], self.times, 1))
