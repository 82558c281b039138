"""``majority``: always the label shares of the training data; the floor that every figure stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.models.model import Baseline, check_sides, label_indices, read_space, write_config
from goldlabel.pairs.labels import LabelSpace


@dataclass(frozen=True)
class Majority(Baseline):
    """Predicts the training shares for every pair, and so the most frequent label."""

    paper = "Hu et al. 2020"

    label_space: LabelSpace
    shares: tuple[float, ...]

    @classmethod
    def fit(cls, premises: Sequence[str], hypotheses: Sequence[str], labels: Sequence[str], space: LabelSpace) -> Self:
        """Count the labels."""
        counts = np.bincount(label_indices(labels, space), minlength=len(space))
        return cls(space, tuple(float(share) for share in counts / counts.sum()))

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return the same row for every pair."""
        check_sides(premises, hypotheses)
        return np.tile(np.array(self.shares), (len(hypotheses), 1))

    def save(self, folder: Path) -> None:
        """Write the shares."""
        write_config(folder, "majority", self.label_space, shares=list(self.shares))

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read the shares."""
        return cls(read_space(config), tuple(config["shares"]))
