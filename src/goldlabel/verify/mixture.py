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
from goldlabel.metrics import Estimate, difference, percentage
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import ABSTENTIONS
from goldlabel.verify.agreement import SHARES, Part, Tallies, tallies_of
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
        """One row per figure; shares in per cent, their difference in points."""
        rows = []
        for name, estimate in self.difference.items():
            own, foreign = self.own[name], self.foreign[name]
            if name in SHARES:
                rows.append((name, percentage(own), percentage(foreign), estimate.text()))
            else:
                rows.append((name, own.text(3), foreign.text(3), estimate.text(3)))
        columns = ("statistic", "own", "foreign", "difference")
        return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")

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
    names = (own.card.name, foreign.card.name)
    return compare_votes(votes_of(own), votes_of(foreign), names, resamples=resamples, level=level, seed=seed)


def compare_votes(
    own: Votes,
    foreign: Votes,
    names: tuple[str, str],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Mixture:
    """Hold votes on foreign pairs against votes on own ones."""
    sides = []
    for number, (votes, name) in enumerate(zip((own, foreign), names, strict=True)):
        tallies = tallies_of(votes, majority(votes))
        if not len(tallies):
            raise InputError(f"{name}: no pair has two votes or more, so there is no agreement to measure")
        sides.append(
            {
                **tallies.shares(_shares(tallies, votes.answers.index("unrelated")), level=level),
                **tallies.coefficients(resamples=resamples, level=level, seed=seed + number),
            }
        )
    return Mixture(
        names=names,
        relabelled=(int(own.relabelled.sum()), int(foreign.relabelled.sum())),
        abstentions=(_abstentions(own), _abstentions(foreign)),
        own=sides[0],
        foreign=sides[1],
        difference={name: difference(sides[1][name], sides[0][name]) for name in sides[0]},
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


def _abstentions(votes: Votes) -> dict[str, int]:
    """Count the abstentions on relabelled pairs."""
    cast = votes.counts[votes.relabelled].sum(axis=0)
    return {word: int(cast[votes.answers.index(word)]) for word in ABSTENTIONS}
