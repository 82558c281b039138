"""Soft labels: the distribution of people's answers, and which pairs are truly ambiguous.

After Nie et al. (2020), "What can we learn from collective human opinions on natural language inference data?":
shares of the votes per label and their entropy in bits. A few votes cannot tell a slip from a second reading, so
a pair is called

- ``ambiguous`` when the second label's share of all people is above ``slips`` with posterior probability
  ``confidence`` or more,
- ``clear`` when it is below with that probability,
- ``undecided`` otherwise: more votes would tell.

The posterior of a label's share is Beta, from a uniform Dirichlet prior over the labels; abstentions are left out.
With three labels and the defaults, five votes leave every pair undecided: it takes ten, split in half, to call one
ambiguous, and twelve that all agree to call one clear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from goldlabel.pairs import Result
from goldlabel.verify.gold import check_share
from goldlabel.verify.votes import Votes

KINDS = ("ambiguous", "clear", "undecided")


@dataclass(frozen=True, repr=False)
class Opinions(Result):
    """The distribution of answers to each pair, one row per pair with a vote for a label."""

    labels: tuple[str, ...]
    pairs: pl.DataFrame
    slips: float
    confidence: float

    @property
    def title(self) -> str:
        """How many pairs are ambiguous."""
        counts = self._counts()
        return f"{counts['ambiguous']:,} of {len(self.pairs):,} pairs are ambiguous, {counts['undecided']:,} undecided"

    @property
    def table(self) -> pl.DataFrame:
        """The pairs, the most divided first."""
        return self.pairs.sort("entropy", "id", descending=[True, False])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the mean entropy."""
        mean = self.pairs["entropy"].mean()
        return {
            "pairs": len(self.pairs),
            "entropy": float(mean) if isinstance(mean, float) else None,
            **self._counts(),
            "slips": self.slips,
            "confidence": self.confidence,
        }

    def _counts(self) -> dict[str, int]:
        return {kind: int((self.pairs["kind"] == kind).sum()) for kind in KINDS}


def opinions(votes: Votes, *, slips: float = 0.2, confidence: float = 0.95) -> Opinions:
    """Return each pair's shares, entropy in bits and kind."""
    from scipy.special import betainc

    check_share("slips", slips)
    check_share("confidence", confidence)
    if votes.soft is not None:
        return _as_given(votes, votes.soft, slips, confidence)
    labels = len(votes.space)
    counts = votes.counts[:, :labels]
    voted = np.flatnonzero(counts.sum(axis=1) > 0)
    counts = counts[voted]
    total = counts.sum(axis=1)
    shares = counts / total[:, None]
    second = np.sort(counts, axis=1)[:, -2] + 1
    below = betainc(second, total + labels - second, slips)
    kind = np.select([1 - below >= confidence, below >= confidence], KINDS[:2], KINDS[2])
    frame = pl.DataFrame(
        {
            "id": votes.ids[voted],
            "votes": total,
            **{label: shares[:, place] for place, label in enumerate(votes.space.labels)},
            "entropy": entropy(shares),
            "above_slips": 1 - below,
            "kind": pl.Series(kind, dtype=pl.String),
        }
    )
    return Opinions(votes.space.labels, frame, slips, confidence)


def _as_given(votes: Votes, soft: NDArray[np.float64], slips: float, confidence: float) -> Opinions:
    """Return the shares that the data came with: they are taken as those of all people, so each pair is decided."""
    known = np.flatnonzero(~np.isnan(soft).any(axis=1))
    shares = soft[known]
    above = np.sort(shares, axis=1)[:, -2] > slips
    frame = pl.DataFrame(
        {
            "id": votes.ids[known],
            "votes": pl.Series([None] * len(known), dtype=pl.Int64),
            **{label: shares[:, place] for place, label in enumerate(votes.space.labels)},
            "entropy": entropy(shares),
            "above_slips": above.astype(np.float64),
            "kind": pl.Series(np.where(above, *KINDS[:2]), dtype=pl.String),
        }
    )
    return Opinions(votes.space.labels, frame, slips, confidence)


def entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of each row in bits."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(np.abs((shares * logs).sum(axis=1)))
