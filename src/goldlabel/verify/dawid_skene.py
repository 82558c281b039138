"""Dawid and Skene (1979): each annotator has a confusion matrix; matrices and labels are found together by EM.

Equations 2.3 to 2.5 of "Maximum likelihood estimation of observer error-rates using the EM algorithm", started
from each pair's vote shares. Abstentions are left out: they are no guess at the label. Estimated probabilities
are kept off zero by 1e-10, as crowd-kit does, so that one vote never rules a label out for good.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goldlabel.verify.gold import GoldLabels, most_probable
from goldlabel.verify.votes import Votes

FLOOR = 1e-10


def dawid_skene(
    votes: Votes, *, confidence: float = 0.0, smoothing: float = 0.0, iterations: int = 100, tolerance: float = 1e-6
) -> GoldLabels:
    """Return the most probable label of each pair, if it is as probable as ``confidence``.

    ``smoothing`` is added to every cell of every confusion matrix, which steadies annotators with few votes;
    the paper has none. EM stops when no probability moves by more than ``tolerance``.
    """
    votes.require_annotators("dawid-skene")
    labels, people = len(votes.space), len(votes.annotators)
    kept = votes.answer < labels
    pair, answer, annotator = votes.row[kept], votes.answer[kept], votes.annotator[kept]
    cast = annotator * labels + answer
    voted = np.bincount(pair, minlength=len(votes.pairs)) > 0
    counts = votes.counts[:, :labels]
    probabilities: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    steps, moved = 0, np.inf
    while steps < iterations and moved >= tolerance:
        steps += 1
        priors = np.maximum(probabilities[voted].mean(axis=0), FLOOR)
        confusion = _confusion(probabilities, pair, cast, people, smoothing)
        scores = np.log(priors) + _sum_by_pair(np.log(confusion), pair, cast, len(votes.pairs))
        updated = np.exp(scores - scores.max(axis=1, keepdims=True))
        updated /= updated.sum(axis=1, keepdims=True)
        moved = float(np.abs(updated - probabilities)[voted].max())
        probabilities = updated
    probabilities = np.where(voted[:, None], probabilities, 0.0)
    confusion = _confusion(probabilities, pair, cast, people, smoothing).reshape(people, labels, labels)
    by_name = {name: matrix.T.tolist() for name, matrix in zip(votes.annotators, confusion, strict=True)}
    marks = most_probable(probabilities, voted, confidence, len(votes.answers))
    details = {"confusion": by_name, "iterations": steps}
    return GoldLabels("dawid-skene", marks, probabilities, details, posterior=True)


def _confusion(
    probabilities: NDArray[np.float64], pair: NDArray[np.int64], cast: NDArray[np.int64], people: int, smoothing: float
) -> NDArray[np.float64]:
    """Return P(vote | true label), equation 2.3, with a row for each annotator and vote, a column for each label.

    A vote an annotator never cast has a row of ``FLOOR``, outside the normalisation: it is never looked up.
    """
    labels = probabilities.shape[1]
    rows = people * labels
    sums = np.stack([np.bincount(cast, probabilities[pair, label], rows) for label in range(labels)], axis=1)
    used = np.bincount(cast, minlength=rows) > 0 if not smoothing else np.ones(rows, dtype=np.bool_)
    sums = np.where(used[:, None], np.maximum(sums + smoothing, FLOOR), 0.0).reshape(people, labels, labels)
    total = sums.sum(axis=1, keepdims=True)
    shares = sums / np.where(total > 0, total, 1.0)
    return np.maximum(shares, FLOOR).reshape(rows, labels)


def _sum_by_pair(
    table: NDArray[np.float64], pair: NDArray[np.int64], cast: NDArray[np.int64], pairs: int
) -> NDArray[np.float64]:
    return np.stack([np.bincount(pair, table[cast, label], pairs) for label in range(table.shape[1])], axis=1)
