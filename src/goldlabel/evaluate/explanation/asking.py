"""Asking a model about pairs that were changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.answers import OnPairs, answer
from goldlabel.models import Model
from goldlabel.pairs.gold import GoldPairs

Ask = Callable[[pl.DataFrame], NDArray[np.str_]]
"""Gives a model's labels of records with ``id``, ``premise`` and ``hypothesis``, ``-`` where it has no answer."""


def asking(model: Model, gold: GoldPairs, on_pairs: OnPairs | None = None) -> Ask:
    """Return a way to ask a model, whose answers are in the label space of the gold pairs."""

    def ask(frame: pl.DataFrame) -> NDArray[np.str_]:
        probabilities = np.concatenate([matrix for _, matrix in answer(model, [frame], on_pairs)])
        return gold.answers(probabilities, model.label_space)

    return ask
