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
import polars as pl
from numpy.typing import NDArray

from goldlabel.verify.bootstrap import Estimate, Statistic, estimates, share
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
class Patterns:
    """The distinct ways in which pairs were voted on, and how many pairs have each."""

    counts: NDArray[np.int64]
    labels: int
    gold: NDArray[np.int64]
    label: NDArray[np.int64]
    author: NDArray[np.int64]
    author_votes: NDArray[np.int64]
    weights: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """Votes per pair."""
        return np.asarray(self.counts.sum(axis=1))

    def votes_for(self, answer: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of votes for an answer; none for ``NONE``."""
        chosen = np.take_along_axis(self.counts, np.maximum(answer, 0)[:, None], axis=1)[:, 0]
        return np.where(answer == NONE, 0, chosen)


def patterns_of(votes: Votes, gold: Gold, chosen: NDArray[np.bool_] | None = None) -> Patterns:
    """Count the patterns of the relabelled pairs among the chosen ones."""
    rows = votes.relabelled if chosen is None else votes.relabelled & chosen
    own = np.bincount(votes.pair[votes.by_author], minlength=len(votes.ids))
    columns = {f"answer{number}": column for number, column in enumerate(votes.counts[rows].T)}
    keys = {"gold": gold.answer[rows], "label": votes.label[rows], "author": votes.author[rows], "own": own[rows]}
    frame = pl.DataFrame(columns | keys)
    distinct = frame.group_by(frame.columns).len().sort(frame.columns).cast(pl.Int64)
    return Patterns(
        counts=distinct.select(*columns).to_numpy(),
        labels=len(votes.space),
        gold=distinct["gold"].to_numpy(),
        label=distinct["label"].to_numpy(),
        author=distinct["author"].to_numpy(),
        author_votes=distinct["own"].to_numpy(),
        weights=distinct["len"].to_numpy(),
    )


def agreement_statistics(patterns: Patterns, unrelated: int) -> dict[str, Statistic]:
    """Return every statistic of agreement over patterns of votes."""
    one = np.ones(len(patterns.weights))
    most = patterns.counts[:, : patterns.labels].max(axis=1, initial=0)
    known = patterns.author != NONE
    others = (patterns.votes_for(patterns.author) - patterns.author_votes) * known
    has_gold = patterns.gold != NONE
    same = patterns.gold == patterns.author
    return {
        **{f"agree{k}": share(most >= k, patterns.total >= k) for k in (5, 4, 3)},
        "individual_gold": share(patterns.votes_for(patterns.gold), patterns.total),
        "individual_author": share(others, (patterns.total - patterns.author_votes) * known),
        "gold_author": share(has_gold & same & known, known),
        "gold_not_author": share(has_gold & ~same & known, known),
        "no_gold": share(~has_gold, one),
        "unrelated": share(patterns.counts[:, unrelated], patterns.total),
        "fleiss_kappa": fleiss_statistic(patterns.counts),
        "krippendorff_alpha": krippendorff_statistic(patterns.counts),
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
    patterns = patterns_of(votes, gold, chosen)
    statistics = agreement_statistics(patterns, votes.answers.index("unrelated"))
    figures = estimates(statistics, patterns.weights, resamples=resamples, level=level, seed=seed)
    n = len(votes.ids) if chosen is None else int(chosen.sum())
    return Agreement(n, int(patterns.weights.sum()), figures)
