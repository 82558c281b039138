"""A model that counts the words that hypothesis and premise share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from goldlabel.models.model import Baseline, read_space, write_config
from goldlabel.pairs.labels import LabelSpace


@dataclass(frozen=True)
class SharedWords(Baseline):
    """Gives the first label the share of the hypothesis's words that the premise has."""

    paper = "Rain and Shine (2024)"

    label_space: LabelSpace

    @classmethod
    def fit(cls, premises: Sequence[str], hypotheses: Sequence[str], labels: Sequence[str], space: LabelSpace) -> Self:
        """Learn nothing."""
        return cls(space)

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Return the share for the first label; the others get equal parts of the rest."""
        shares = [
            len({*hypothesis.split()} & {*premise.split()}) / len({*hypothesis.split()})
            for premise, hypothesis in zip(premises, hypotheses, strict=True)
        ]
        first = np.array(shares)[:, None]
        others = len(self.label_space) - 1
        return np.hstack([first, np.repeat((1 - first) / others, others, axis=1)])

    def save(self, folder: Path) -> None:
        """Write the label space."""
        write_config(folder, "shared-words", self.label_space)

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any]) -> Self:
        """Read the label space."""
        return cls(read_space(config))
