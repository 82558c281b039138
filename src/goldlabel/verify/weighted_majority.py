"""Weighted majority: each vote counts as much as its annotator agrees with the plain majority.

This is the scheme known as worker agreement with aggregate (Wawa; in crowd-kit under that name): majority,
then each annotator's share of votes equal to it, then the majority of votes so weighted. Two differences:
a tied pair has no majority and plays no part in the weights, where others take the first label; and a label
needs more than half of the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.majority import leading
from goldlabel.verify.votes import Marks, Votes, marked

MORE_THAN_HALF = 0.5 + 1e-9
"""Of a weight that was added up in floating point."""


def weighted_majority(votes: Votes) -> GoldLabels:
    """Return the label with more than half of the weight; ``details`` hold each annotator's weight."""
    votes.require_annotators("weighted-majority")
    cast = LabelVotes.of(votes)
    weights = cast.agreement(leading(votes.counts[:, : cast.labels], cast.labels, quorum=1), np.zeros(cast.people))
    shares, voted = cast.shares(weights)
    marks = most_probable(shares, voted, MORE_THAN_HALF, len(votes.answers))
    named = dict(zip(votes.annotators, weights.tolist(), strict=True))
    return GoldLabels("weighted-majority", marks, shares, {"weights": named})


@dataclass(frozen=True)
class LabelVotes:
    """The votes for labels, without abstentions: which pair, which label, by whom."""

    row: NDArray[np.int64]
    answer: NDArray[np.int64]
    annotator: NDArray[np.int64]
    pairs: int
    labels: int
    people: int

    @classmethod
    def of(cls, votes: Votes) -> LabelVotes:
        """Leave the abstentions out."""
        labels = len(votes.space)
        kept = votes.answer < labels
        parts = (votes.row[kept], votes.answer[kept], votes.annotator[kept])
        return cls(*parts, len(votes.pairs), labels, len(votes.annotators))

    def agreement(self, marks: Marks, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each annotator's share of votes equal to the marked labels; pairs without a mark play no part."""
        compared = marked(marks)[self.row]
        right = np.bincount(self.annotator, compared & marks[self.row, self.answer], self.people)
        seen = np.bincount(self.annotator, compared, self.people)
        return np.where(seen > 0, right / np.maximum(seen, 1), otherwise)

    def shares(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return each label's share of the weight of a pair's votes, and which pairs have any."""
        cells = self.row * self.labels + self.answer
        sums = np.bincount(cells, weights[self.annotator], self.pairs * self.labels).reshape(-1, self.labels)
        total = sums.sum(axis=1)
        return sums / np.where(total > 0, total, 1.0)[:, None], total > 0
