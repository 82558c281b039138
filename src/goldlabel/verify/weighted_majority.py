"""Weighted majority: each vote counts as much as its annotator agrees with the plain majority.

This is the scheme known as worker agreement with aggregate (Wawa; in crowd-kit under that name): majority,
then each annotator's share of votes equal to it, then the majority of votes so weighted. Two differences:
a tied pair has no majority and plays no part in the weights, where others take the first label; and a label
needs more than half of the weight.
"""

from __future__ import annotations

import numpy as np

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Votes, marked

MORE_THAN_HALF = 0.5 + 1e-9
"""Of a weight that was added up in floating point."""


def weighted_majority(votes: Votes) -> GoldLabels:
    """Return the label with more than half of the weight; ``details`` hold each annotator's weight."""
    votes.require_annotators("weighted-majority")
    labels = len(votes.space)
    for_label = votes.answer < labels
    row, answer, annotator = votes.row[for_label], votes.answer[for_label], votes.annotator[for_label]
    plain = leading(votes.counts[:, :labels], labels, quorum=1)
    compared = marked(plain)[row]
    right = np.bincount(annotator, compared & plain[row, answer], len(votes.annotators))
    seen = np.bincount(annotator, compared, len(votes.annotators))
    weights = right / np.maximum(seen, 1)
    sums = np.bincount(row * labels + answer, weights[annotator], len(votes.pairs) * labels).reshape(-1, labels)
    total = sums.sum(axis=1)
    shares = sums / np.where(total > 0, total, 1.0)[:, None]
    marks = most_probable(shares, total > 0, MORE_THAN_HALF, len(votes.answers))
    named = dict(zip(votes.annotators, weights.tolist(), strict=True))
    return GoldLabels("weighted-majority", marks, shares, {"weights": named})
