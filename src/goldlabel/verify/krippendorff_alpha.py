"""Krippendorff's alpha for nominal answers: disagreement seen against disagreement expected.

From the coincidence matrix (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C), of which
only the diagonal and the margins are needed. Any number of votes per pair; one vote alone is not pairable and is
left out. Abstentions are answers like any other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.metrics import Statistic, Terms, divided


def krippendorff_alpha(counts: ArrayLike) -> float | None:
    """Return alpha of a table of votes by pair and answer; ``None`` where all votes are one answer."""
    statistic = krippendorff_statistic(np.asarray(counts, dtype=np.int64))
    value = statistic.of_sums(statistic.terms.sum(axis=0, keepdims=True))[0]
    return None if np.isnan(value) else float(value)


def krippendorff_statistic(counts: NDArray[np.integer]) -> Statistic:
    """Return the terms: each pair's part of the diagonal of the coincidence matrix, and its votes by answer."""
    votes = counts.sum(axis=1)
    pairable = votes >= 2
    diagonal = (counts * (counts - 1)).sum(axis=1) / np.where(pairable, votes - 1, 1)
    return Statistic(np.column_stack([diagonal, counts]) * pairable[:, None], _alpha)


def _alpha(sums: Terms) -> Terms:
    answers = sums[:, 1:]
    total = answers.sum(axis=1)
    seen = total - sums[:, 0]
    expected = total**2 - (answers**2).sum(axis=1)
    return 1 - divided((total - 1) * seen, np.where((answers > 0).sum(axis=1) > 1, expected, 0.0))
