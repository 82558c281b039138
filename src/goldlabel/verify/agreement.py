"""How far annotators agree: the rows of Tables 4 and 10 of Hu et al. (2020), with the coefficients of agreement.

All shares are in per cent and are taken over the pairs that were relabelled, those with two votes or more.

- ``agree5``, ``agree4``, ``agree3``: pairs on which that many votes or more are for one label, of the pairs with
  that many votes; abstentions agree on no label.
- ``individual_gold``: votes equal to the gold label, of all votes, also those on pairs without one.
- ``individual_author``: votes equal to the author's label, of all votes but the author's own.
- ``gold_author``, ``gold_not_author``, ``no_gold``: pairs by what became of the author's label.
- ``unrelated``: votes for ``unrelated``, of all votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goldlabel.metrics import Estimate, Statistic, bootstrap_sums, share
from goldlabel.verify.fleiss_kappa import fleiss_statistic
from goldlabel.verify.gold import Gold
from goldlabel.verify.krippendorff_alpha import krippendorff_statistic
from goldlabel.verify.votes import NONE, Votes

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
COEFFICIENTS = ("fleiss_kappa", "krippendorff_alpha", "cohen_kappa")

Part = tuple[NDArray[Any], NDArray[Any]]
"""A share: per pair, how many hits, of how many."""


@dataclass(frozen=True)
class Agreement:
    """The figures of one group of pairs."""

    n: int
    relabelled: int
    figures: Mapping[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and, under ``intervals``, their intervals."""
        values = {name: estimate.value for name, estimate in self.figures.items()}
        intervals = {
            name: list(estimate.interval) if estimate.interval else None for name, estimate in self.figures.items()
        }
        return {"n": self.n, "relabelled": self.relabelled, **values, "intervals": intervals}


@dataclass(frozen=True)
class Tallies:
    """The votes of the relabelled pairs among some, a row per pair."""

    counts: NDArray[np.int64]
    labels: int
    gold: NDArray[np.int64]
    label: NDArray[np.int64]
    author: NDArray[np.int64]
    author_votes: NDArray[np.int64]
    units: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def total(self) -> NDArray[np.int64]:
        """Votes per pair."""
        return np.asarray(self.counts.sum(axis=1))

    def votes_for(self, answer: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of votes for an answer; none for ``NONE``."""
        chosen = np.take_along_axis(self.counts, np.maximum(answer, 0)[:, None], axis=1)[:, 0]
        return np.where(answer == NONE, 0, chosen)

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


def tallies_of(votes: Votes, gold: Gold, chosen: NDArray[np.bool_] | None = None) -> Tallies:
    """Tally the votes of the relabelled pairs among the chosen ones."""
    rows = votes.relabelled if chosen is None else votes.relabelled & chosen
    own = np.bincount(votes.pair[votes.by_author], minlength=len(votes.ids))
    return Tallies(
        counts=votes.counts[rows].astype(np.int64),
        labels=len(votes.space),
        gold=gold.answer[rows].astype(np.int64),
        label=votes.label[rows].astype(np.int64),
        author=votes.author[rows].astype(np.int64),
        author_votes=own[rows],
        units=votes.units[rows],
    )


def agreement_shares(tallies: Tallies, unrelated: int) -> dict[str, Part]:
    """Return the shares of agreement as numerators and denominators per pair."""
    every = np.ones(len(tallies))
    most = tallies.counts[:, : tallies.labels].max(axis=1, initial=0)
    known = tallies.author != NONE
    others = (tallies.votes_for(tallies.author) - tallies.author_votes) * known
    has_gold = tallies.gold != NONE
    same = tallies.gold == tallies.author
    return {
        **{f"agree{k}": (most >= k, tallies.total >= k) for k in (5, 4, 3)},
        "individual_gold": (tallies.votes_for(tallies.gold), tallies.total),
        "individual_author": (others, (tallies.total - tallies.author_votes) * known),
        "gold_author": (has_gold & same & known, known),
        "gold_not_author": (has_gold & ~same & known, known),
        "no_gold": (~has_gold, every),
        "unrelated": (tallies.counts[:, unrelated], tallies.total),
    }


def agreement(
    votes: Votes,
    gold: Gold,
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
    n = len(votes.ids) if chosen is None else int(chosen.sum())
    return Agreement(n, len(tallies), figures)
