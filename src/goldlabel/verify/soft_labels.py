"""Soft labels: the most probable label, by the probabilities that the data came with, or by the shares of the votes.

Behind probabilities stand no votes, so nothing is said of agreement: they are taken as what people would choose.
"""

from __future__ import annotations

import numpy as np

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes


def soft_labels(votes: Votes, *, confidence: float = 0.0) -> GoldLabels:
    """Return the most probable label of each pair, if it is as probable as wanted and no other is equal."""
    if votes.soft is None:
        counts = votes.counts[:, : len(votes.space)]
        total = counts.sum(axis=1)
        shares, known = counts / np.maximum(total, 1)[:, None], np.asarray(votes.relabelled & (total > 0))
    else:
        known = np.asarray(~np.isnan(votes.soft).any(axis=1))
        shares = np.where(known[:, None], votes.soft, 0.0)
    return GoldLabels("soft-labels", most_probable(shares, known, confidence, len(votes.answers)), shares, known=known)
