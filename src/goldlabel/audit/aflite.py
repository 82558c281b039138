"""AFLite: leave out the pairs that linear models on partial input find easy (Le Bras et al. 2020, Algorithm 1).

Per round, ``models`` linear models are trained on random halves of what is left and label the rest. A pair's
predictability is the share of models that got it right among those that had not seen it. Of the pairs at or above
``threshold``, the ``slice`` most predictable are dropped; the rounds end when fewer than ``slice`` reach it or
``least`` pairs are left. Features are hashed words and bigrams of the hypothesis, where the paper has a frozen
encoder's; the defaults are fewer models (16 for 64) and a slice that follows the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.audit.bags import read_bags
from goldlabel.audit.logistic import fit_models, hashed_ngrams
from goldlabel.errors import InputError
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.pairs.splits import DROPPED
from goldlabel.seeds import random_state


@dataclass(frozen=True, kw_only=True)
class AFLite:
    """A plan for ``Pairs.split``: what is easy without the premise is dropped, the rest stays in its split.

    Pairs without a gold label are kept as they are. ``slice`` 0 means one in fifty of the pairs at the start.
    """

    models: int = 16
    train: float = 0.5
    threshold: float = 0.75
    slice: int = 0
    least: int = 100
    rounds: int = 100

    def columns(self) -> Sequence[str]:
        """Name the columns the plan looks at."""
        return ["premise", "hypothesis", "language", "label"]

    def describe(self) -> str:
        """Say in a few words what was done."""
        return f"AFLite on the hypothesis with {self.models} models per round, threshold {self.threshold:g}"

    def assign(self, frame: pl.DataFrame, seed: int) -> pl.Series:
        """Return the split of each row, or the mark of what is dropped."""
        gold = np.flatnonzero((frame["label"] != NO_GOLD).to_numpy())
        names, labels = np.unique(frame["label"].to_numpy()[gold], return_inverse=True)
        if len(names) < 2:
            raise InputError("AFLite needs pairs with two or more labels")
        kept = self.filter(hashed_ngrams(read_bags(frame[gold], "hypothesis")), labels.astype(np.int8), seed=seed)
        assigned = frame["split"].to_numpy().astype(object)
        assigned[gold[~kept]] = DROPPED
        return pl.Series("split", assigned, dtype=pl.String)

    def filter(self, matrix: Any, labels: NDArray[np.int8], *, seed: int = 0) -> NDArray[np.bool_]:
        """Return which rows of a sparse feature matrix stay."""
        if not (self.models > 0 and 0 < self.train < 1 and 0 < self.threshold <= 1 and self.least > 0):
            raise InputError(f"AFLite cannot run with {self}")
        random = random_state(seed)
        size = self.slice or max(1, len(labels) // 50)
        kept = np.ones(len(labels), dtype=bool)
        for turn in range(self.rounds):
            left = np.flatnonzero(kept)
            if len(left) <= self.least:
                break
            score = self._predictability(matrix[left], labels[left], random, seed + turn)
            easy = np.flatnonzero(score >= self.threshold)
            most = min(size, len(left) - self.least)
            kept[left[easy[np.argsort(-score[easy], kind="stable")][:most]]] = False
            if len(easy) < size:
                break
        return kept

    def _predictability(
        self, matrix: Any, labels: NDArray[np.int8], random: np.random.RandomState, seed: int
    ) -> NDArray[np.float64]:
        """Return the share of models right about each row that they had not seen; 0 if all had."""
        rows = len(labels)
        trained_on = random.rand(rows, self.models) < self.train
        models = fit_models(matrix, labels, int(labels.max()) + 1, trained_on, seed=seed)
        right = np.zeros(rows)
        for number in range(self.models):
            unseen = ~trained_on[:, number]
            predicted = models.predict(matrix[unseen], np.full(int(unseen.sum()), number)).argmax(axis=1)
            right[unseen] += predicted == labels[unseen]
        judged = (~trained_on).sum(axis=1)
        share: NDArray[np.float64] = np.divide(right, judged, out=np.zeros(rows), where=judged > 0)
        return share
