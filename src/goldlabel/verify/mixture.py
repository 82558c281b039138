"""A foreign dataset mixed in blindly: the same annotators' votes on own and on foreign pairs, side by side.

Table 11 of Hu et al. (2020). The label of each pair is the one it came with; the votes are those of annotators
who were not told which pair is from where. The difference is foreign minus own, and its interval comes from
resampling both sets on their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from goldlabel.errors import InputError
from goldlabel.pairs import Pairs, Result
from goldlabel.pairs.labels import ABSTENTIONS
from goldlabel.verify.agreement import Patterns, patterns_of
from goldlabel.verify.bootstrap import Estimate, Statistic, estimates, of_weights, percentiles, replicates, share
from goldlabel.verify.fleiss_kappa import fleiss_statistic
from goldlabel.verify.krippendorff_alpha import krippendorff_statistic
from goldlabel.verify.majority import majority
from goldlabel.verify.votes import NONE, Votes, votes_of


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
    patterns = [patterns_of(votes, majority(votes)) for votes in both]
    for pairs, found in zip((own, foreign), patterns, strict=True):
        if not len(found.weights):
            raise InputError(f"{pairs.card.name}: no pair has two votes or more, so there is no agreement to measure")
    statistics = [_statistics(found, votes) for found, votes in zip(patterns, both, strict=True)]
    options: dict[str, Any] = {"resamples": resamples, "level": level}
    figures = [
        estimates(of, found.weights, **options, seed=seed + side)
        for side, (of, found) in enumerate(zip(statistics, patterns, strict=True))
    ]
    drawn = [
        replicates(of, found.weights, resamples=resamples, seed=seed + side)
        for side, (of, found) in enumerate(zip(statistics, patterns, strict=True))
    ]
    values = [of_weights(of, found.weights[None]) for of, found in zip(statistics, patterns, strict=True)]
    difference = {}
    for name in statistics[0]:
        gap = float(values[1][name][0] - values[0][name][0])
        interval = percentiles(drawn[1][name] - drawn[0][name], level)
        difference[name] = Estimate(None if np.isnan(gap) else gap, interval)
    sizes = [int(found.weights.sum()) for found in patterns]
    abstentions = [_abstentions(found, votes) for found, votes in zip(patterns, both, strict=True)]
    return Mixture(
        (own.card.name, foreign.card.name),
        (sizes[0], sizes[1]),
        (abstentions[0], abstentions[1]),
        figures[0],
        figures[1],
        difference,
    )


def _statistics(patterns: Patterns, votes: Votes) -> dict[str, Statistic]:
    """Return the rows of Table 11; ``any`` counts agreement on an abstention as agreement."""
    one = np.ones(len(patterns.weights))
    labelled = patterns.label != NONE
    same = (patterns.gold == patterns.label) & labelled
    on_label = patterns.counts[:, : patterns.labels].max(axis=1, initial=0)
    on_any = patterns.counts.max(axis=1, initial=0)
    unrelated = patterns.counts[:, votes.answers.index("unrelated")]
    return {
        "majority_label": share(same, labelled),
        **{f"agree{k}": share(on_label >= k, patterns.total >= k) for k in (5, 4, 3)},
        **{f"agree{k}_any": share(on_any >= k, patterns.total >= k) for k in (5, 4, 3)},
        "no_gold": share(patterns.gold == NONE, one),
        "majority_unrelated": share(2 * unrelated > patterns.total, one),
        "unrelated": share(unrelated, patterns.total),
        "fleiss_kappa": fleiss_statistic(patterns.counts),
        "krippendorff_alpha": krippendorff_statistic(patterns.counts),
    }


def _abstentions(patterns: Patterns, votes: Votes) -> dict[str, int]:
    return {word: int((patterns.counts[:, votes.answers.index(word)] * patterns.weights).sum()) for word in ABSTENTIONS}
