"""Majority: the label that more than half of the votes agree on.

Bowman et al. (2015) and Hu et al. (2020, section 3.3) take three of five. A quorum says how many equal votes
are needed instead. Abstentions are votes that no label got; where they lead or tie, there is no gold label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goldlabel.errors import InputError
from goldlabel.verify.gold import GoldLabels
from goldlabel.verify.votes import Marks, Votes


def majority(votes: Votes, *, quorum: int | None = None) -> GoldLabels:
    """Return the label with more than half of a pair's votes, or with ``quorum`` votes and no equal."""
    if quorum is not None and quorum < 1:
        raise InputError(f"a quorum of {quorum} votes is none; give 1 or more")
    labels = len(votes.space)
    shares = votes.counts[:, :labels] / np.maximum(votes.total, 1)[:, None]
    return GoldLabels("majority", leading(votes.counts, labels, quorum), shares)


def leading(counts: NDArray[np.int32], labels: int, quorum: int | None = None) -> Marks:
    """Mark the leading label of each row of counts, or none; the columns past ``labels`` are abstentions."""
    best = counts.max(axis=1, initial=0)
    marks = counts == best[:, None]
    needed = counts.sum(axis=1) // 2 + 1 if quorum is None else quorum
    leads = (marks.sum(axis=1) == 1) & (best >= needed)
    marks[:, labels:] = False
    return np.asarray(marks & leads[:, None])
