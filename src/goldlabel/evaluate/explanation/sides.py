"""How much of a score survives without the premise, or without the hypothesis?

The model is asked once more, with every premise *blank* (one fixed non-word, as in Hu et al. 2020, section 4), and with
every premise *shuffled*: that of a pair of another unit, in the same language, so that the text still looks like those
it knows. The gold labels stay. What survives is the part of the gain over chance that is left,

    (accuracy without - chance) / (accuracy with - chance),

where chance is always saying the most frequent label of these pairs. Its interval is the bootstrap's over units; it
has none where the model is hardly above chance. Without the hypothesis nothing should survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.evaluate.explanation.asking import Ask
from goldlabel.metrics import Estimate, PairedTest, Statistic, Terms, bootstrap_sums, mcnemar, share
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.lexicon import NON_WORD
from goldlabel.pairs.tokens import UNKNOWN, language_of
from goldlabel.seeds import random_state

SIDES = ("premise", "hypothesis")
WAYS = ("blank", "shuffled")


@dataclass(frozen=True)
class Survival:
    """A model without one of the sides."""

    side: str
    """What was taken away."""
    way: str
    """``blank`` or ``shuffled``."""
    accuracy: Estimate
    loss: PairedTest
    """The accuracy with it less that without."""
    survives: Estimate
    """The share of the gain over chance that is left."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "side": self.side,
            "way": self.way,
            "accuracy": self.accuracy.to_dict(),
            "loss": self.loss.difference.to_dict() | {"p_value": self.loss.p_value},
            "survives": self.survives.to_dict(),
        }


def measure_sides(
    gold: GoldPairs, answers: NDArray[np.str_], ask: Ask, *, level: float = 0.95, seed: int = 0
) -> list[Survival]:
    """Ask the model without each side, in each way."""
    partners = draw_partners(gold, seed)
    survivals = []
    for side in SIDES:
        for way in WAYS:
            if way == "blank":
                rows = np.arange(len(gold))
                texts = pl.repeat(NON_WORD, len(rows), eager=True)
            else:
                rows = np.flatnonzero(partners >= 0)
                texts = gold.frame[side].gather(partners[rows])
            if len(rows):
                without = ask(gold.frame[rows].with_columns(texts.alias(side)))
                survivals.append(_survival(side, way, gold, answers, without, rows, level, seed))
    return survivals


def draw_partners(gold: GoldPairs, seed: int) -> NDArray[np.int64]:
    """Return for each pair one of another unit and the same language, each at most once; -1 where there is none."""
    random = random_state(seed)
    languages = language_of(gold.frame).fill_null(UNKNOWN).to_numpy()
    partners = np.full(len(gold), -1, dtype=np.int64)
    for language in np.unique(languages):
        rows = random.permutation(np.flatnonzero(languages == language))
        order = random.permutation(int(gold.units.max()) + 1)
        rows = rows[np.argsort(order[gold.units[rows]], kind="stable")]
        # Units lie side by side: a step as long as the largest leads out of every one.
        moved = np.roll(rows, int(np.bincount(gold.units[rows]).max()))
        elsewhere = gold.units[moved] != gold.units[rows]
        partners[rows[elsewhere]] = moved[elsewhere]
    return partners


def _survival(
    side: str,
    way: str,
    gold: GoldPairs,
    answers: NDArray[np.str_],
    without: NDArray[np.str_],
    rows: NDArray[np.int64],
    level: float,
    seed: int,
) -> Survival:
    true, units = gold.frame["label"].to_numpy()[rows], gold.units[rows]
    hits = [answers[rows] == true, without == true]
    labels = [true == label for label in gold.space.labels]
    statistic = Statistic(np.column_stack([*hits, *labels]).astype(np.float64), _surviving)
    return Survival(
        side,
        way,
        share(hits[1], units=units, level=level),
        mcnemar(true, answers[rows], without, units=units, level=level),
        bootstrap_sums({"": statistic}, units=units, level=level, seed=seed)[""],
    )


def _surviving(sums: Terms) -> Terms:
    chance = sums[:, 2:].max(axis=1)
    gain = sums[:, 0] - chance
    return np.where(gain > 0, (sums[:, 1] - chance) / np.where(gain > 0, gain, 1.0), np.nan)
