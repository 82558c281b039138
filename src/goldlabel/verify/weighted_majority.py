"""Weighted majority: each vote counts as much as its annotator agrees with the plain majority.

This is the scheme known as worker agreement with aggregate (Wawa; in crowd-kit under that name): majority,
then each annotator's share of votes equal to it, then the majority of votes so weighted. Two differences:
a tied pair has no majority and plays no part in the weights, where others take the first label; and a label
needs more than half of the weight.
"""

from __future__ import annotations

import numpy as np

from goldlabel.verify.gold import Gold, most_probable
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import NONE, Votes

MORE_THAN_HALF = 0.5 + 1e-9
"""Of a weight that was added up in floating point."""


def weighted_majority(votes: Votes) -> Gold:
    """Return the label with more than half of the weight; ``details`` hold each annotator's weight."""
    votes.require_annotators("weighted-majority")
    labels = len(votes.space)
    plain = leading(votes.counts[:, :labels], labels, quorum=1)[votes.pair]
    held = (plain != NONE) & (votes.answer < labels)
    right = np.bincount(votes.annotator[held], votes.answer[held] == plain[held], len(votes.annotators))
    seen = np.bincount(votes.annotator[held], minlength=len(votes.annotators))
    weights = right / np.maximum(seen, 1)
    label_votes = votes.answer < labels
    cell = votes.pair[label_votes].astype(np.int64) * labels + votes.answer[label_votes]
    sums = np.bincount(cell, weights[votes.annotator[label_votes]], len(votes.ids) * labels).reshape(-1, labels)
    total = sums.sum(axis=1)
    shares = sums / np.where(total > 0, total, 1.0)[:, None]
    answer = most_probable(shares, total > 0, MORE_THAN_HALF)
    named = dict(zip(votes.annotators, weights.tolist(), strict=True))
    return Gold("weighted-majority", answer, shares, {"weights": named})
