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
from goldlabel.verify.votes import Marks, Votes, marked


@dataclass(frozen=True)
class GoldLabels:
    """The gold label of each pair, marked among the answers, and the score of each label.

    ``pending`` are pairs on which the method has not decided yet: they have no mark, and keep the label they have.
    ``posterior`` says that scores are the probabilities of the labels. ``details`` is what the method learned beside:
    outcomes of a rule, the competence of annotators.
    """

    method: str
    marks: Marks
    scores: NDArray[np.float64]
    details: dict[str, Any] = field(default_factory=dict)
    pending: NDArray[np.bool_] | None = None
    posterior: bool = False
    known: NDArray[np.bool_] | None = None
    """The pairs that the method knows something of; those with two votes or more, if it does not say."""

    @property
    def decided(self) -> NDArray[np.bool_]:
        """The pairs that the method has decided on, also those that it decided to leave without a label."""
        return np.ones(len(self.marks), dtype=np.bool_) if self.pending is None else ~self.pending

    def settled(self, votes: Votes) -> NDArray[np.bool_]:
        """The pairs whose label the method sets, or leaves out."""
        return self.decided & (votes.relabelled if self.known is None else self.known)

    def words(self, votes: Votes) -> pl.Series:
        """Return the gold labels as words."""
        place = np.where(marked(self.marks), self.marks.argmax(axis=1), len(votes.answers))
        return pl.Series("label", [*votes.answers, NO_GOLD])[place]


Method = Callable[..., GoldLabels]

METHODS: Registry[Method] = Registry("way to a gold label")
METHODS.add("majority", "goldlabel.verify.majority:majority")
METHODS.add("two-plus-one", "goldlabel.verify.two_plus_one:two_plus_one")
METHODS.add("weighted-majority", "goldlabel.verify.weighted_majority:weighted_majority")
METHODS.add("dawid-skene", "goldlabel.verify.dawid_skene:dawid_skene")
METHODS.add("mace", "goldlabel.verify.mace:mace")
METHODS.add("wawa", "goldlabel.verify.wawa:wawa")
METHODS.add("zbs", "goldlabel.verify.zero_based_skill:zero_based_skill")
METHODS.add("glad", "goldlabel.verify.crowd_kit:glad")
METHODS.add("soft-labels", "goldlabel.verify.soft_labels:soft_labels")

QUORUM_METHODS = ("majority",)
CONFIDENCE_METHODS = ("dawid-skene", "mace", "wawa", "zbs", "glad", "soft-labels")


def gold_labels(
    votes: Votes, method: str = "majority", *, quorum: int | None = None, confidence: float | None = None
) -> GoldLabels:
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


def most_probable(
    probabilities: NDArray[np.float64], voted: NDArray[np.bool_], confidence: float, answers: int
) -> Marks:
    """Mark the most probable label, or none: where it is less probable than wanted, tied, or nobody voted."""
    best = probabilities.max(axis=1, initial=0.0)
    marks = np.isclose(probabilities, best[:, None], rtol=0, atol=1e-12)
    stands = voted & (marks.sum(axis=1) == 1) & (best >= confidence)
    return np.pad(marks & stands[:, None], ((0, 0), (0, answers - probabilities.shape[1])))


def check_share(name: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} {value} is not between 0 and 1")
