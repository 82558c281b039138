"""Invented pairs in units, and models that answer them as told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.models.model import Unmoved
from goldlabel.pairs import Card, Pairs
from goldlabel.pairs.labels import NLI3, LabelSpace

WORDS = {"entailment": "a bird", "neutral": "an old bird", "contradiction": "a fish"}


def make_pairs(
    labels: Sequence[str], *, name: str = "birds", space: LabelSpace = NLI3, per_premise: int = 1, **columns: Any
) -> Pairs:
    """Pairs with these gold labels, so many to a premise; ``columns`` are values or one for each pair."""
    rows = {
        "id": [f"{name}-{number}" for number in range(len(labels))],
        "premise": [f"Heron {number // per_premise} stands in the reeds." for number in range(len(labels))],
        "hypothesis": [f"Heron {number} is {WORDS.get(label, label)}." for number, label in enumerate(labels)],
        "label": list(labels),
    }
    frame = pl.DataFrame(rows).with_columns(
        pl.Series(column, values if isinstance(values, list) else [values] * len(labels))
        for column, values in columns.items()
    )
    return Pairs.from_frame(frame, Card(name=name, label_space=space))


class Told(Unmoved):
    """Answers with a label for each pair, by the number in its hypothesis; ``None`` is no answer."""

    def __init__(self, answers: Sequence[str | None], space: LabelSpace = NLI3) -> None:
        self.answers = answers
        self.label_space = space
        self.asked = 0

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        self.asked += len(premises)
        matrix = np.full((len(premises), len(self.label_space)), np.nan)
        for row, hypothesis in enumerate(hypotheses):
            answer = self.answers[int(hypothesis.split()[1])]
            if answer is not None:
                matrix[row] = 0.1 / (len(self.label_space) - 1)
                matrix[row, self.label_space.index(answer)] = 0.9
        return matrix
