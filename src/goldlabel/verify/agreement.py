"""How far annotators agree: the rows of Tables 4 and 10 of Hu et al. (2020), with the coefficients of agreement.

All shares are in per cent and are taken over the pairs that were relabelled, those with two votes or more.

- ``agree5``, ``agree4``, ``agree3``: pairs on which that many votes or more are for one label, of the pairs with
  that many votes; abstentions agree on no label.
- ``individual_gold``: votes equal to the gold label, of all votes, also those on pairs without one.
- ``individual_author``: votes equal to the author's label, of all votes but the author's own.
- ``gold_author``, ``gold_not_author``, ``no_gold``: pairs by what became of the author's label.
- ``unrelated``: votes for ``unrelated``, of all votes.

Pairs on which a method has yet to decide are left out of what is said of gold labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics import Estimate, Statistic, bootstrap_sums, share
from goldlabel.verify.fleiss_kappa import fleiss_statistic
from goldlabel.verify.gold import GoldLabels
from goldlabel.verify.krippendorff_alpha import krippendorff_statistic
from goldlabel.verify.votes import Marks, Votes, marked

SHARES = (
    "agree5",
    "agree4",
    "agree3",
    "individual_gold",
    "individual_author",
    "gold_author",
    "gold_not_author",
    "no_gold",
    "unrelated",
)
AUTHOR_SHARES = ("individual_author", "gold_author", "gold_not_author")
COEFFICIENTS = ("fleiss_kappa", "krippendorff_alpha", "cohen_kappa")

Part = tuple[NDArray[Any], NDArray[Any]]
"""A share: per pair, how many hits, of how many."""


@dataclass(frozen=True)
class Agreement:
    """The figures of one group of pairs, and how many pairs and units were relabelled."""

    n: int
    relabelled: int
    units: int
    figures: Mapping[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and, under ``intervals``, their intervals."""
        values = {name: estimate.value for name, estimate in self.figures.items()}
        intervals = {
            name: list(estimate.interval) if estimate.interval else None for name, estimate in self.figures.items()
        }
        counts = {"n": self.n, "relabelled": self.relabelled, "units": self.units}
        return {**counts, **values, "intervals": intervals}


@dataclass(frozen=True)
class Tallies:
    """The votes of the relabelled pairs among some, a row per pair; on ``decided`` ones the method is done."""

    counts: NDArray[np.int64]
    labels: int
    gold: Marks
    decided: NDArray[np.bool_]
    label: Marks
    author: Marks
    author_votes: NDArray[np.int64]
    units: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> NDArray[np.int64]:
        """Votes per pair."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def most(self) -> NDArray[np.int64]:
        """The votes for the label that has the most."""
        return np.asarray(self.counts[:, : self.labels].max(axis=1, initial=0))

    def votes_for(self, marks: Marks) -> NDArray[np.int64]:
        """Return the number of votes for the marked answer; zero where none is marked."""
        return np.asarray((self.counts * marks).sum(axis=1))

    def shares(self, parts: Mapping[str, Part], *, level: float) -> dict[str, Estimate]:
        """Return shares in per cent, each given by its numerator and denominator per pair."""
        return {name: share(hits, of, units=self.units, level=level).percent() for name, (hits, of) in parts.items()}

    def coefficients(self, *, resamples: int, level: float, seed: int) -> dict[str, Estimate]:
        """Return Fleiss' kappa and Krippendorff's alpha."""
        return bootstrap_sums(
            self.coefficient_statistics(), units=self.units, resamples=resamples, level=level, seed=seed
        )

    def coefficient_statistics(self) -> dict[str, Statistic]:
        """Return the coefficients as statistics of sums over pairs."""
        return {
            "fleiss_kappa": fleiss_statistic(self.counts),
            "krippendorff_alpha": krippendorff_statistic(self.counts),
        }


def tallies_of(votes: Votes, gold: GoldLabels, chosen: NDArray[np.bool_] | None = None) -> Tallies:
    """Tally the votes of the relabelled pairs among the chosen ones."""
    rows = votes.relabelled if chosen is None else votes.relabelled & chosen
    own = np.bincount(votes.row[votes.by_author], minlength=len(votes.pairs))
    return Tallies(
        counts=votes.counts[rows].astype(np.int64),
        labels=len(votes.space),
        gold=gold.marks[rows],
        decided=gold.decided[rows],
        label=votes.label[rows],
        author=votes.author[rows],
        author_votes=own[rows],
        units=votes.units[rows],
    )


def agreement_shares(tallies: Tallies, unrelated: int) -> dict[str, Part]:
    """Return the shares of agreement as numerators and denominators per pair."""
    decided, has_gold = tallies.decided, marked(tallies.gold)
    known = marked(tallies.author)
    others = (tallies.votes_for(tallies.author) - tallies.author_votes) * known
    same = marked(tallies.gold & tallies.author)
    return {
        **{f"agree{k}": (tallies.most >= k, tallies.total >= k) for k in (5, 4, 3)},
        "individual_gold": (tallies.votes_for(tallies.gold), tallies.total * decided),
        "individual_author": (others, (tallies.total - tallies.author_votes) * known),
        "gold_author": (same, decided & known),
        "gold_not_author": (has_gold & known & ~same, decided & known),
        "no_gold": (decided & ~has_gold, decided),
        "unrelated": (tallies.counts[:, unrelated], tallies.total),
    }


def shares_by_person(
    person: NDArray[np.int64], hits: NDArray[Any], units: NDArray[np.int64], people: int, *, level: float
) -> list[Estimate]:
    """Return each person's share of hits among their votes, in per cent."""
    order = np.argsort(person, kind="stable")
    ends = np.searchsorted(person[order], np.arange(people + 1))
    rows = (order[start:stop] for start, stop in itertools.pairwise(ends))
    return [share(hits[own], units=units[own], level=level).percent() for own in rows]


def agreement(
    votes: Votes,
    gold: GoldLabels,
    *,
    chosen: NDArray[np.bool_] | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Return the agreement on the chosen pairs, or on all; Cohen's kappa is left to who knows the annotators."""
    tallies = tallies_of(votes, gold, chosen)
    figures = {
        **tallies.shares(agreement_shares(tallies, votes.answers.index("unrelated")), level=level),
        **tallies.coefficients(resamples=resamples, level=level, seed=seed),
    }
    n = len(votes.pairs) if chosen is None else int(chosen.sum())
    return Agreement(n, len(tallies), len(np.unique(tallies.units)), figures)
