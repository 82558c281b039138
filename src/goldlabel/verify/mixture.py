"""A foreign dataset mixed in blindly: the same annotators' votes on own and on foreign pairs, side by side.

Table 11 of Hu et al. (2020). The label of each pair is the one it came with; the votes are those of annotators
who were not told which pair is from where. The difference is foreign minus own, and its interval comes from
those of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.metrics import Estimate, difference
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import ABSTENTIONS
from goldlabel.verify.agreement import Part, Tallies, tallies_of
from goldlabel.verify.majority import majority
from goldlabel.verify.votes import Votes, marked, votes_of


@dataclass(frozen=True, repr=False)
class Mixture(Result):
    """The figures of own and foreign pairs, and their difference."""

    names: tuple[str, str]
    relabelled: tuple[int, int]
    abstentions: tuple[Mapping[str, int], Mapping[str, int]]
    own: Mapping[str, Estimate]
    foreign: Mapping[str, Estimate]
    difference: Mapping[str, Estimate]

    @property
    def title(self) -> str:
        """What is held against what."""
        return f"{self.names[1]} among {self.names[0]}: {self.relabelled[1]:,} and {self.relabelled[0]:,} pairs"

    @property
    def table(self) -> pl.DataFrame:
        """One row per figure; null where it is undefined."""
        rows = []
        for name, estimate in self.difference.items():
            low, high = estimate.interval or (None, None)
            values = (self.own[name].value, self.foreign[name].value, estimate.value, low, high)
            rows.append((name, *(None if value is None else round(value, 3) for value in values)))
        columns = ("statistic", "own", "foreign", "difference", "low", "high")
        schema = dict.fromkeys(columns, pl.Float64) | {"statistic": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return all figures with their intervals."""
        sides = {}
        for side, name in enumerate(("own", "foreign")):
            figures = self.own if side == 0 else self.foreign
            sides[name] = {
                "name": self.names[side],
                "relabelled": self.relabelled[side],
                "votes": dict(self.abstentions[side]),
                **{key: estimate.to_dict() for key, estimate in figures.items()},
            }
        return sides | {"difference": {key: estimate.to_dict() for key, estimate in self.difference.items()}}


def compare_mixture(
    own: Pairs, foreign: Pairs, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Mixture:
    """Hold the votes on foreign pairs against those on own ones; both must have the same labels."""
    if own.card.label_space.labels != foreign.card.label_space.labels:
        raise InputError(f"{own.card.name} and {foreign.card.name} have different labels; map one of them first")
    both = votes_of(own), votes_of(foreign)
    tallies = [tallies_of(votes, majority(votes)) for votes in both]
    for pairs, tallied in zip((own, foreign), tallies, strict=True):
        if not len(tallied):
            raise InputError(f"{pairs.card.name}: no pair has two votes or more, so there is no agreement to measure")
    unrelated = both[0].answers.index("unrelated")
    figures = [
        {
            **tallied.shares(_shares(tallied, unrelated), level=level),
            **tallied.coefficients(resamples=resamples, level=level, seed=seed + side),
        }
        for side, tallied in enumerate(tallies)
    ]
    sizes = [len(tallied) for tallied in tallies]
    abstentions = [_abstentions(tallied, votes) for tallied, votes in zip(tallies, both, strict=True)]
    return Mixture(
        (own.card.name, foreign.card.name),
        (sizes[0], sizes[1]),
        (abstentions[0], abstentions[1]),
        figures[0],
        figures[1],
        {name: difference(figures[1][name], figures[0][name]) for name in figures[0]},
    )


def _shares(tallies: Tallies, unrelated: int) -> dict[str, Part]:
    """Return the rows of Table 11; ``any`` counts agreement on an abstention as agreement."""
    every = np.ones(len(tallies))
    on_any = tallies.counts.max(axis=1, initial=0)
    votes = tallies.counts[:, unrelated]
    return {
        "majority_label": (marked(tallies.gold & tallies.label), marked(tallies.label)),
        **{f"agree{k}": (tallies.most >= k, tallies.total >= k) for k in (5, 4, 3)},
        **{f"agree{k}_any": (on_any >= k, tallies.total >= k) for k in (5, 4, 3)},
        "no_gold": (~marked(tallies.gold), every),
        "majority_unrelated": (2 * votes > tallies.total, every),
        "unrelated": (votes, tallies.total),
    }


def _abstentions(tallies: Tallies, votes: Votes) -> dict[str, int]:
    return {word: int(tallies.counts[:, votes.answers.index(word)].sum()) for word in ABSTENTIONS}
