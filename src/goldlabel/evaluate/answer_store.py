"""Answers that were given once: kept by what the model is and what it was asked, and never asked for again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.answers import OnPairs, silence
from goldlabel.evaluate.prediction import write_answers
from goldlabel.models import Model
from goldlabel.pairs.gold import GoldPairs, digest_texts
from goldlabel.pairs.labels import NO_GOLD, LabelSpace

_ASKED = ("id", "premise", "hypothesis")


@dataclass(frozen=True)
class StoredAnswers:
    """Probabilities over a model's own labels; a pair without an answer is a row of NaN."""

    space: LabelSpace
    probabilities: NDArray[np.float64]


@dataclass(frozen=True)
class AnswerStore:
    """A folder of answers, one file for each model and each set of pairs."""

    folder: Path

    def path(self, model: str, gold: GoldPairs) -> Path:
        """Return where a model's answers to pairs lie; ``model`` is the hash of a model."""
        return self.folder / f"{model[:24]}-{digest_texts(gold.frame.select(_ASKED))[:24]}.parquet"

    def has(self, model: str, gold: GoldPairs) -> bool:
        """Say whether a model has answered pairs."""
        return self.path(model, gold).exists()

    def ask(self, digest: str, model: Model, gold: GoldPairs, on_pairs: OnPairs | None = None) -> None:
        """Have a model answer pairs, and keep that; what was interrupted goes on where it was."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings: Mapping[str, Any] = {"model": digest}
        labels, *_ = write_answers(model, gold.frame.lazy(), self.path(digest, gold), settings, on_pairs)
        if set(labels) == {NO_GOLD}:
            self.path(digest, gold).unlink()
            raise silence("the model", model, gold)

    def read(self, model: str, gold: GoldPairs) -> StoredAnswers:
        """Return the answers of a model to pairs."""
        return read_answers(self.path(model, gold))


def read_answers(path: Path) -> StoredAnswers:
    """Return the answers that a file holds."""
    frame = pl.read_parquet(path)
    labels = [name for name in frame.columns if name not in ("id", "label")]
    matrix = frame.select(pl.col(labels).fill_null(np.nan)).to_numpy()
    return StoredAnswers(LabelSpace("answers", tuple(labels)), np.asarray(matrix, dtype=np.float64))
