"""The human baseline: fresh people's votes against gold labels (Nangia and Bowman 2019; Hu et al. 2020, Table 12).

``accuracy`` is that of the majority, where a pair without one counts as the dataset's most frequent gold label:
a conservative figure. ``accuracy_decided`` leaves such pairs out, ``accuracy_strict`` counts them as wrong, and
``accuracy_individual`` is that of a single vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.messages import many
from goldlabel.metrics import Estimate, percentage
from goldlabel.pairs import Result
from goldlabel.verify.agreement import shares_by_person, tallies_of
from goldlabel.verify.majority import majority
from goldlabel.verify.votes import Votes, marked


@dataclass(frozen=True, repr=False)
class HumanBaseline(Result):
    """How well people do who had no part in the labels."""

    pairs: int
    without_gold: int
    fallback: str
    figures: Mapping[str, Estimate]
    people: Mapping[str, Estimate]

    @property
    def title(self) -> str:
        """How many pairs were voted on."""
        return f"Human baseline on {many(self.pairs, 'pair')}; no majority counts as {self.fallback}"

    @property
    def table(self) -> pl.DataFrame:
        """One row per figure, in per cent."""
        rows = [(name, percentage(figure)) for name, figure in self.figures.items()]
        return pl.DataFrame(rows, schema={"statistic": pl.String, "value": pl.String}, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return the figures with intervals, and each person's accuracy."""
        return {
            "pairs": self.pairs,
            "without_gold": self.without_gold,
            "fallback": self.fallback,
            **{name: estimate.to_dict() for name, estimate in self.figures.items()},
            "people": [{"annotator": name, **accuracy.to_dict()} for name, accuracy in self.people.items()],
        }


def human_baseline(votes: Votes, *, level: float = 0.95) -> HumanBaseline:
    """Score fresh votes against the labels of the pairs; pairs whose label is ``-`` are left out."""
    has_gold = marked(votes.label)
    if not (has_gold & (votes.total > 0)).any():
        raise InputError("no pair with a gold label has a vote, so people cannot be held against gold")
    fallback = int(votes.label.sum(axis=0).argmax())
    tallies = tallies_of(votes, majority(votes), has_gold)
    if not len(tallies):
        raise InputError("no pair has two votes or more, so there is no majority to score")
    decided = marked(tallies.gold)
    right = marked(tallies.gold & tallies.label)
    every = np.ones(len(tallies))
    shares = {
        "accuracy": (np.where(decided, right, tallies.label[:, fallback]), every),
        "accuracy_decided": (right, decided),
        "accuracy_strict": (right, every),
        "accuracy_individual": (tallies.votes_for(tallies.label), tallies.total),
        **{f"agree{k}": (tallies.most >= k, tallies.total >= k) for k in (5, 4, 3)},
        "no_majority": (~decided, every),
    }
    return HumanBaseline(
        len(tallies),
        int((~has_gold & (votes.total > 0)).sum()),
        votes.space.labels[fallback],
        tallies.shares(shares, level=level),
        _people(votes, level),
    )


def _people(votes: Votes, level: float) -> dict[str, Estimate]:
    """Return each known person's accuracy, in per cent."""
    signed = votes.signed
    scored = marked(signed.label)[signed.row]
    row, answer, person = signed.row[scored], signed.answer[scored], signed.annotator[scored]
    right = signed.label[row, answer]
    accuracies = shares_by_person(person, right, signed.units[row], len(signed.annotators), level=level)
    return {name: accuracy for name, accuracy in zip(signed.annotators, accuracies, strict=True) if accuracy.n}
