"""Fleiss' kappa: agreement beyond what the shares of the answers would give by chance (Fleiss 1971).

The paper has the same number of votes on every pair. Where the numbers differ, each pair's agreement still
counts once, and the shares of the answers are taken over all votes; with equal numbers this is the paper's.
Abstentions are answers like any other. Pairs with one vote say nothing and are left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goldlabel.metrics import Statistic, Terms, divided


def fleiss_kappa(counts: ArrayLike) -> float | None:
    """Return kappa of a table of votes by pair and answer; ``None`` where all votes are one answer."""
    statistic = fleiss_statistic(np.asarray(counts, dtype=np.int64))
    value = statistic.of_sums(statistic.terms.sum(axis=0, keepdims=True))[0]
    return None if np.isnan(value) else float(value)


def fleiss_statistic(counts: NDArray[np.integer]) -> Statistic:
    """Return the terms: each pair's agreement (equation 2), one, and its votes by answer."""
    votes = counts.sum(axis=1)
    rated = votes >= 2
    agreement = (counts * (counts - 1)).sum(axis=1) / np.where(rated, votes * (votes - 1), 1)
    terms = np.column_stack([agreement, np.ones(len(counts)), counts]) * rated[:, None]
    return Statistic(terms, _kappa)


def _kappa(sums: Terms) -> Terms:
    observed = divided(sums[:, 0], sums[:, 1])
    answers = sums[:, 2:]
    total = answers.sum(axis=1, keepdims=True)
    shares = np.divide(answers, total, out=np.zeros_like(answers), where=total > 0)
    by_chance = (shares**2).sum(axis=1)
    # All votes on one answer make chance agreement certain, up to rounding.
    room = np.where((answers > 0).sum(axis=1) > 1, 1 - by_chance, 0.0)
    return divided(observed - by_chance, room)
