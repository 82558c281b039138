"""What a method makes of the votes: a gold label per pair, and the methods by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.pairs.labels import NO_GOLD
from goldlabel.registry import Registry
from goldlabel.verify.votes import NONE, Votes


@dataclass(frozen=True)
class Gold:
    """The gold label of each pair, as a column of the labels or ``NONE``, and the score of each label.

    ``details`` is what the method learned beside: outcomes of a rule, the competence of annotators.
    """

    method: str
    answer: NDArray[np.int8]
    scores: NDArray[np.float64]
    details: dict[str, Any] = field(default_factory=dict)

    def words(self, votes: Votes) -> pl.Series:
        """Return the gold labels as words."""
        return pl.Series("label", [*votes.space.labels, NO_GOLD])[np.where(self.answer == NONE, -1, self.answer)]


Method = Callable[..., Gold]

METHODS: Registry[Method] = Registry("way to a gold label")
METHODS.add("majority", "goldlabel.verify.majority:majority")
METHODS.add("two-plus-one", "goldlabel.verify.two_plus_one:two_plus_one")
METHODS.add("weighted-majority", "goldlabel.verify.weighted_majority:weighted_majority")
METHODS.add("dawid-skene", "goldlabel.verify.dawid_skene:dawid_skene")
METHODS.add("mace", "goldlabel.verify.mace:mace")

QUORUM_METHODS = ("majority",)
CONFIDENCE_METHODS = ("dawid-skene", "mace")


def gold_labels(
    votes: Votes, method: str = "majority", *, quorum: int | None = None, confidence: float | None = None
) -> Gold:
    """Apply a method by its name; ``quorum`` is for a majority, ``confidence`` for what gives a probability."""
    apply = METHODS.get(method)
    options: dict[str, Any] = {}
    if quorum is not None:
        if method not in QUORUM_METHODS:
            raise InputError(f"a quorum is for {', '.join(QUORUM_METHODS)}, and {method} was chosen")
        options["quorum"] = quorum
    if confidence is not None:
        check_share("confidence", confidence)
        if method in CONFIDENCE_METHODS:
            options["confidence"] = confidence
    return apply(votes, **options)


def most_probable(probabilities: NDArray[np.float64], voted: NDArray[np.bool_], confidence: float) -> NDArray[np.int8]:
    """Return the most probable label, or none: where it is less probable than wanted, tied, or nobody voted."""
    best = probabilities.max(axis=1, initial=0.0)
    alone = np.isclose(probabilities, best[:, None], rtol=0, atol=1e-12).sum(axis=1) == 1
    answer = probabilities.argmax(axis=1).astype(np.int8)
    return np.where(voted & alone & (best >= confidence), answer, NONE).astype(np.int8)


def check_share(name: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} {value} is not between 0 and 1")
